/* model.js - the trace in the form that the page needs: arrays by step, and the steps and waits of each lane */

const PREEMPTION = 1;
const NOTE = { BLOCK: 1, WAKE: 2, EXIT: 3, EXEC: 4, MESSAGE: 5 };
const ARROWS = [
	{ name: "creates", back: "created by", colour: "task" },
	{ name: "wakes", back: "woken by", colour: "good" },
	{ name: "hands over to", back: "gets it from", colour: "acquire" },
	{ name: "is accessed again in", back: "accesses the same as", colour: "data" },
];
const CLASSES = ["other", "acquire", "release", "data", "task", "syscall"];

class Model {
	constructor(raw) {
		this.raw = raw;
		this.nr = raw.steps.task.length;
		this.first = raw.first;
		this.label = Uint32Array.from(raw.steps.label);
		this.set = Uint32Array.from(raw.steps.set);
		this.flags = Uint8Array.from(raw.steps.flags);
		this.makeLanes();
		this.makeNotes();
		this.makeWaits();
		this.makeArrows();
		this.preemptions = Uint32Array.from(this.stepsWith(PREEMPTION));
		delete raw.steps;
	}

	string(i) {
		return i < 0 ? "" : this.raw.strings[i];
	}

	/* A lane for each task, grouped by process. A process of several tasks gets a heading when there are others. */
	makeLanes() {
		const raw = this.raw, known = new Map(raw.tasks.map(t => [t[0], t]));
		for (const task of new Set(raw.steps.task))
			if (!known.has(task))
				known.set(task, [task, -1, 0, task, -1]);
		const tasks = [...known.values()].sort((a, b) => a[3] - b[3] || a[0] - b[0]);
		this.lanes = tasks.map(([task, parent, pid, process, comm], i) => ({
			task, parent, pid, process, comm: this.string(comm), heads: i === 0 || tasks[i - 1][3] !== process,
			alone: tasks[i - 1]?.[3] !== process && tasks[i + 1]?.[3] !== process,
			nr: 0, steps: null, waits: { from: [], to: [], object: [], holder: [], text: [] },
			begin: Infinity, end: this.nr, gone: false,
		}));
		this.processes = this.lanes.filter(l => l.heads).length;
		for (const l of this.lanes)
			l.heads = l.heads && !l.alone && this.processes > 1;
		this.laneOf = new Map(this.lanes.map((l, i) => [l.task, i]));
		this.lane = new Uint32Array(this.nr);
		for (let i = 0; i < this.nr; i++) {
			this.lane[i] = this.laneOf.get(raw.steps.task[i]);
			this.lanes[this.lane[i]].nr++;
		}
		for (const l of this.lanes) {
			l.steps = new Uint32Array(l.nr);
			l.nr = 0;
		}
		for (let i = 0; i < this.nr; i++) {
			const l = this.lanes[this.lane[i]];
			l.steps[l.nr++] = i;
		}
		for (const l of this.lanes)
			if (l.nr)
				l.begin = l.steps[0];
		/* a task that could have run existed already */
		const seen = new Set();
		let last = -1;
		for (let i = 0; i < this.nr; i++) {
			const set = this.set[i];
			if (set === last || seen.has(set))
				continue;
			seen.add(last = set);
			for (const task of raw.sets[set]) {
				const l = this.lanes[this.laneOf.get(task)];
				if (l && i < l.begin)
					l.begin = i;
			}
		}
	}

	makeNotes() {
		this.notes = this.raw.notes.map(([at, kind, task, by, object, text]) => ({ at, kind, task, by, object, text }));
		this.messages = this.notes.filter(n => n.kind === NOTE.MESSAGE || n.kind === NOTE.EXEC);
		this.noteAt = Uint32Array.from(this.notes, n => n.at);
		for (const n of this.notes) {
			const l = this.lanes[this.laneOf.get(n.task)];
			if (!l)
				continue;
			if (n.kind !== NOTE.EXIT && n.at < l.begin)
				l.begin = n.at;
			if (n.kind === NOTE.EXIT) {
				l.end = n.at;
				l.gone = true;
			}
		}
	}

	makeWaits() {
		for (const [task, from, to, object, holder, text] of this.raw.waits) {
			const l = this.lanes[this.laneOf.get(task)];
			if (!l)
				continue;
			l.waits.from.push(Math.max(0, from));
			l.waits.to.push(to);
			l.waits.object.push(object);
			l.waits.holder.push(holder);
			l.waits.text.push(text);
			l.begin = Math.min(l.begin, Math.max(0, from));
		}
	}

	makeArrows() {
		const flat = this.raw.arrows, nr = flat.length / 3;
		this.arrowFrom = new Uint32Array(nr);
		this.arrowTo = new Uint32Array(nr);
		this.arrowKind = new Uint8Array(nr);
		for (let i = 0; i < nr; i++) {
			this.arrowFrom[i] = flat[3 * i];
			this.arrowTo[i] = flat[3 * i + 1];
			this.arrowKind[i] = flat[3 * i + 2];
		}
		/* arrows are sorted by where they end; byFrom by where they begin */
		this.byFrom = Uint32Array.from(this.arrowFrom.keys()).sort((a, b) => this.arrowFrom[a] - this.arrowFrom[b]);
		this.fromSorted = this.byFrom.map(i => this.arrowFrom[i]);
	}

	stepsWith(flag) {
		const found = [];
		for (let i = 0; i < this.nr; i++)
			if (this.flags[i] & flag)
				found.push(i);
		return found;
	}

	/* Indices of arrows that begin or end in [a, b), at most limit + 1. */
	arrowsIn(a, b, limit) {
		const found = [];
		for (let i = lowerBound(this.arrowTo, a); i < this.arrowTo.length && this.arrowTo[i] < b && found.length <= limit; i++)
			found.push(i);
		for (let i = lowerBound(this.fromSorted, a); i < this.byFrom.length && this.fromSorted[i] < b && found.length <= limit; i++)
			if (this.arrowTo[this.byFrom[i]] >= b)
				found.push(this.byFrom[i]);
		return found;
	}

	/* ---- words ---- */

	taskName(task) {
		return task < 0 ? "outside" : "T" + task;
	}

	objectName(object) {
		return object < 0 ? "" : this.string(this.raw.objects[object][1]);
	}

	/* Of a label: its objects, its operation with them, and its place. */
	labelOperand(label) {
		const [, , object, object2] = this.raw.labels[label];
		return this.objectName(object) + (object2 < 0 ? "" : ` (${this.objectName(object2)})`);
	}

	labelText(label) {
		return (this.string(this.raw.labels[label][0]) + " " + this.labelOperand(label)).trim();
	}

	labelPlace(label) {
		const site = this.raw.labels[label][4];
		const frame = site < 0 ? -1 : this.mainFrame(this.raw.sites[site].slice(1));
		return site < 0 ? "" : frame < 0 ? this.string(this.raw.sites[site][0]) : this.frameText(frame);
	}

	op(step) {
		return this.string(this.raw.labels[this.label[step]][0]);
	}

	opClass(step) {
		return CLASSES[this.raw.labels[this.label[step]][1]];
	}

	operand(step) {
		return this.labelOperand(this.label[step]);
	}

	text(step) {
		return this.labelText(this.label[step]);
	}

	/* Frames of a step's place, innermost first. */
	frames(step) {
		const site = this.raw.labels[this.label[step]][4];
		return site < 0 ? [] : this.raw.sites[site].slice(1);
	}

	rawPlace(step) {
		const site = this.raw.labels[this.label[step]][4];
		return site < 0 ? "" : this.string(this.raw.sites[site][0]);
	}

	/* The frame to show: the innermost of the program with a known source, else of any, else with a line. */
	mainFrame(frames) {
		const file = f => this.raw.frames[f][1];
		const own = f => !/^\/(usr\/(include|lib|share\/go|local\/go)|rustc)/.test(this.raw.files[file(f)][1]);
		return frames.find(f => file(f) >= 0 && own(f) && this.raw.files[file(f)][2]) ??
			frames.find(f => file(f) >= 0 && this.raw.files[file(f)][2]) ??
			frames.find(f => file(f) >= 0) ?? frames[0] ?? -1;
	}

	frameText(frame) {
		const [fn, file, line] = this.raw.frames[frame];
		const name = file < 0 ? "" : this.raw.files[file][0] + (line ? ":" + line : "");
		return (this.string(fn) + " " + name).trim() || "?";
	}

	place(step) {
		return this.labelPlace(this.label[step]);
	}

	/* { path, younger, lines: [[number, text, isHere]] or null: not found }, or null: no place known */
	source(frame) {
		const [, file, line] = frame < 0 ? [0, -1, 0] : this.raw.frames[frame];
		if (file < 0 || !line)
			return null;
		const [, path, text, younger] = this.raw.files[file];
		if (!text || text[line] === undefined)
			return { path, lines: null };
		const lines = [];
		for (let n = Math.max(1, line - 4); n <= line + 4; n++)
			if (text[n] !== undefined)
				lines.push([n, text[n], n === line]);
		return { path, lines, younger: Boolean(younger) };
	}

	/* The task's last step before, or its first at or after. -1: none */
	stepBefore(lane, step) {
		const steps = this.lanes[lane].steps, i = lowerBound(steps, step);
		return i ? steps[i - 1] : -1;
	}

	stepAfter(lane, step) {
		const steps = this.lanes[lane].steps, i = lowerBound(steps, step);
		return i < steps.length ? steps[i] : -1;
	}

	/* The index of the lane's wait at that position, -1: none. */
	waitAt(lane, at) {
		const w = this.lanes[lane].waits, i = lowerBound(w.from, at + 1e-9) - 1;
		return i >= 0 && (w.to[i] > at || w.to[i] >= this.nr) ? i : -1;
	}

	waitText(lane, i) {
		const w = this.lanes[lane].waits, object = this.objectName(w.object[i]);
		const before = this.stepBefore(lane, w.from[i]);
		const stack = w.to[i] >= this.nr && this.raw.stacks.find(s => s[0] === this.lanes[lane].task);
		let text = "waits";
		if (stack && stack[1] >= 0 && this.string(stack[1]))
			return this.string(stack[1]);
		if (w.text[i] >= 0 && before >= 0 && this.op(before) !== "begin")
			text += " in " + this.op(before);
		if (object)
			text += " for " + object;
		else if (w.text[i] >= 0 && (before < 0 || this.op(before) === "begin"))
			text += " in " + this.string(w.text[i]);
		if (w.holder[i] >= 0)
			text += ", held by " + this.taskName(w.holder[i]);
		return text;
	}

	/* Steps whose operation, object, function or file has the text in it. */
	search(query) {
		const q = query.trim().toLowerCase();
		if (!q)
			return new Uint32Array(0);
		const hit = this.raw.labels.map(([op, , object, object2, site]) =>
			[this.string(op), this.objectName(object), this.objectName(object2), ...(site < 0 ? [] : [
				this.string(this.raw.sites[site][0]), ...this.raw.sites[site].slice(1).map(f => this.frameText(f)),
			]), (this.string(op) + " " + this.objectName(object))].some(s => s.toLowerCase().includes(q)));
		const found = [];
		for (let i = 0; i < this.nr; i++)
			if (hit[this.label[i]])
				found.push(i);
		return Uint32Array.from(found);
	}
}
