/* trace.js - the page of a trace: buttons, keys, mouse, search */

let model, view, details;
let found = { query: "", at: -1 };

function select(step, closer) {
	view.selected = step;
	details.showStep(step);
	details.markStory(step);
	if (step >= 0)
		view.reveal(step, closer);
	updateCounts();
	view.redraw();
}

const go = step => select(step, true);

function updateCounts() {
	const nr = model.preemptions.length, at = lowerBound(model.preemptions, view.selected);
	byId("preemption-count").textContent = !nr ? "no preemption" :
		model.preemptions[at] === view.selected ? `preemption ${count(at + 1)} of ${count(nr)}` : plural(nr, "preemption");
	byId("preemption-back").disabled = byId("preemption-on").disabled = !nr;
	const hits = view.matches.length, hit = lowerBound(view.matches, view.selected);
	byId("search-count").textContent = !found.query ? "" : !hits ? "nothing" :
		view.matches[hit] === view.selected ? `${count(hit + 1)} of ${count(hits)}` : count(hits);
	byId("search-back").disabled = byId("search-on").disabled = !hits;
}

/* Goes to the next of sorted steps; after the last comes the first. */
function jump(steps, direction) {
	if (!steps.length)
		return;
	let i = lowerBound(steps, view.selected);
	if (direction > 0)
		i = view.selected < 0 ? 0 : steps[i] === view.selected ? i + 1 : i;
	else
		i = view.selected < 0 ? steps.length - 1 : i - 1;
	go(steps[(i + steps.length) % steps.length]);
}

function toFailure() {
	if (model.nr)
		go(model.nr - 1);
}

function move(direction, sameTask) {
	if (!model.nr)
		return;
	if (view.selected < 0)
		return select(direction > 0 ? Math.max(0, Math.min(model.nr - 1, Math.ceil(view.start))) : model.nr - 1);
	const steps = model.lanes[model.lane[view.selected]].steps;
	const next = sameTask ? steps[lowerBound(steps, view.selected) + direction] : view.selected + direction;
	if (next >= 0 && next < model.nr)
		select(next);
}

/* Goes to the nearest step of the next lane that has one. */
function moveLane(direction) {
	if (view.selected < 0)
		return move(1);
	for (let lane = model.lane[view.selected] + direction; model.lanes[lane]; lane += direction) {
		const before = model.stepBefore(lane, view.selected), after = model.stepAfter(lane, view.selected);
		if (before < 0 && after < 0)
			continue;
		return select(before < 0 || (after >= 0 && after - view.selected < view.selected - before) ? after : before);
	}
}

function search(query) {
	found.query = query.trim();
	view.matches = model.search(query);
	updateCounts();
	view.redraw();
}

function toggleHelp() {
	byId("help").hidden = !byId("help").hidden;
	byId("help-button").setAttribute("aria-expanded", String(!byId("help").hidden));
}

function onKey(e) {
	if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "INPUT" || e.target.tagName === "SUMMARY")
		return;
	const actions = {
		ArrowLeft: () => move(-1, e.shiftKey), ArrowRight: () => move(1, e.shiftKey),
		ArrowUp: () => moveLane(-1), ArrowDown: () => moveLane(1),
		PageUp: () => view.scroll(-1), PageDown: () => view.scroll(1),
		Home: () => model.nr && go(0), End: toFailure,
		n: () => jump(model.preemptions, 1), p: () => jump(model.preemptions, -1),
		f: toFailure, "+": () => view.zoom(1.6), "=": () => view.zoom(1.6), "-": () => view.zoom(1 / 1.6), 0: () => view.fit(),
		"/": () => byId("search").focus(), "?": toggleHelp, Escape: () => select(-1),
	};
	if (!actions[e.key])
		return;
	e.preventDefault();
	actions[e.key]();
}

/* The thing at that point: { step } or { lane, wait } or { lane }, or null. */
function hit(x, y) {
	const lane = y < RULER ? -1 : view.laneAt(y), at = view.stepAt(x);
	if (y < RULER && x > GUTTER && model.nr) {
		const flag = model.preemptions[Math.max(0, lowerBound(model.preemptions, at) - 1)];
		const near = [flag, model.preemptions[lowerBound(model.preemptions, at)]].find(p =>
			p !== undefined && Math.abs(view.x(p) - x) < 7);
		return near === undefined ? null : { step: near, flag: true };
	}
	if (lane < 0)
		return null;
	if (x < GUTTER)
		return { lane };
	const step = Math.floor(at), near = Math.max(0.5, 3 / view.scale);
	if (step < model.nr && model.lane[step] === lane)
		return { step };
	if (view.scale < DETAIL) {
		const steps = model.lanes[lane].steps, next = steps[lowerBound(steps, at - near)];
		if (next !== undefined && next <= at + near)
			return { step: next };
	}
	const wait = model.waitAt(lane, Math.min(at, model.nr));
	return wait >= 0 ? { lane, wait } : null;
}

function tipFor(h) {
	if (h.step === undefined) {
		const l = model.lanes[h.lane];
		if (h.wait !== undefined) {
			const w = l.waits, to = w.to[h.wait];
			return [make("p", {}, make("b", {}, `T${l.task} `), model.waitText(h.lane, h.wait)),
				make("p", {}, to >= model.nr ? `since step ${count(w.from[h.wait] + model.first)}, to the end` :
					`from step ${count(w.from[h.wait] + model.first)} to ${count(to + model.first)}`)];
		}
		const parent = l.parent < 0 ? "the command itself" : `created by ${model.taskName(l.parent)}`;
		return [make("p", {}, make("b", {}, `T${l.task} `), l.comm),
			make("p", {}, `${parent}; process ${l.pid ? "of " + model.taskName(l.process) + ", thread " + l.pid : "unknown"}; ${plural(l.nr, "step")}`)];
	}
	const m = model, step = h.step, source = m.source(m.mainFrame(m.frames(step)));
	const line = source?.lines?.find(l => l[2]);
	return [make("p", {}, make("b", {}, `${count(step + m.first)}  T${m.lanes[m.lane[step]].task} `), m.text(step)),
		m.flags[step] & PREEMPTION && step ? make("p", { class: "alarm" },
			`preemption: T${m.lanes[m.lane[step - 1]].task} could have gone on`) : "",
		m.place(step) ? make("p", {}, m.place(step), line ? make("pre", {}, line[1].trim()) : "") : ""];
}

function hover(e) {
	const tip = byId("tip"), box = view.stage.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
	const h = dragging ? null : hit(x, y);
	view.hovered = h;
	tip.hidden = !h;
	view.stage.style.cursor = h && h.step !== undefined ? "pointer" : dragging ? "grabbing" : "default";
	if (!h)
		return;
	tip.replaceChildren(...tipFor(h));
	tip.style.left = Math.max(0, Math.min(x + 14, box.width - tip.offsetWidth - 8)) + "px";
	tip.style.top = (y + 18 + tip.offsetHeight > box.height ? Math.max(0, y - tip.offsetHeight - 10) : y + 18) + "px";
}

let dragging = null;

function listenToMouse() {
	const canvas = view.stage;
	canvas.addEventListener("wheel", e => {
		e.preventDefault();
		const unit = e.deltaMode === 1 ? 30 : 1, box = canvas.getBoundingClientRect();
		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			view.start += (e.deltaX || e.deltaY) * unit / view.scale;
			view.clamp();
		} else {
			view.zoom(Math.exp(-e.deltaY * unit / 400), e.clientX - box.left);
		}
	}, { passive: false });
	let pressed = null;
	canvas.addEventListener("pointerdown", e => {
		if (e.button)
			return;
		pressed = { x: e.clientX, y: e.clientY, start: view.start, top: view.top };
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener("pointermove", e => {
		if (pressed && (dragging || Math.hypot(e.clientX - pressed.x, e.clientY - pressed.y) > 4)) {
			dragging = pressed;
			view.start = pressed.start - (e.clientX - pressed.x) / view.scale;
			view.top = pressed.top - (e.clientY - pressed.y);
			view.clamp();
		}
		hover(e);
	});
	canvas.addEventListener("pointerup", e => {
		const box = canvas.getBoundingClientRect();
		if (pressed && !dragging) {
			const h = hit(e.clientX - box.left, e.clientY - box.top);
			if (h && h.step !== undefined)
				select(h.step);
		}
		pressed = dragging = null;
	});
	canvas.addEventListener("pointercancel", () => pressed = dragging = null);
	canvas.addEventListener("pointerleave", () => byId("tip").hidden = true);
	const overview = view.overview;
	const centre = e => {
		const x = e.clientX - overview.getBoundingClientRect().left;
		view.start = view.overviewStep(x) - view.width / view.scale / 2;
		view.clamp();
	};
	overview.addEventListener("pointerdown", e => {
		overview.setPointerCapture(e.pointerId);
		centre(e);
	});
	overview.addEventListener("pointermove", e => e.buttons & 1 && centre(e));
}

function listenToButtons() {
	byId("to-failure").onclick = toFailure;
	byId("preemption-back").onclick = () => jump(model.preemptions, -1);
	byId("preemption-on").onclick = () => jump(model.preemptions, 1);
	byId("zoom-in").onclick = () => view.zoom(1.6);
	byId("zoom-out").onclick = () => view.zoom(1 / 1.6);
	byId("zoom-fit").onclick = () => view.fit();
	byId("help-button").onclick = toggleHelp;
	byId("search").oninput = e => search(e.target.value);
	byId("search").onkeydown = e => {
		if (e.key === "Enter")
			jump(view.matches, e.shiftKey ? -1 : 1);
		else if (e.key === "Escape")
			e.target.blur();
	};
	byId("search-on").onclick = () => jump(view.matches, 1);
	byId("search-back").onclick = () => jump(view.matches, -1);
	document.addEventListener("keydown", onKey);
}

function showHead() {
	const raw = model.raw, o = raw.outcome, last = model.first + model.nr;
	byId("badge").textContent = o ? o.kind : "cut off";
	byId("badge").className = "badge " + (o && !o.finding ? "pass" : "fail");
	/* the badge says the kind already */
	const words = o ? o.words : "no outcome: the trace is cut off";
	byId("words").textContent = o && words.startsWith(o.kind + ": ") ? words.slice(o.kind.length + 2) : words;
	byId("cycle").textContent = o?.cycle ? `cycle: ${o.cycle}` : "";
	byId("facts").replaceChildren(make("b", { class: "mono" }, raw.command),
		`  found by ${raw.strategy || "?"}, seed ${raw.seed}, execution ${raw.execution}: ` +
		`${plural(raw.total, "step")}, ${plural(model.lanes.length, "task")} in ${plural(model.processes, "process", "es")}`);
	byId("to-failure").textContent = o?.finding ? "Go to the failure" : "Go to the end";
	byId("to-failure").classList.toggle("alarm", Boolean(o?.finding));
	if (model.nr < raw.total)
		say(`This page has steps ${count(model.first)} to ${count(last - 1)} of ${count(raw.total)}; zug show --html --steps=A..B makes a page of other steps.`);
	else if (raw.truncated)
		say("The trace is cut off: the steps after its end are not known.");
	else if (o?.ungranted)
		say(`${plural(o.ungranted, "run")} without a grant: the schedule was not kept. This is a bug in zugzwang.`);
}

function showLegend() {
	const entries = [
		["acquire", "lock, wait, other synchronisation"], ["release", "unlock, signal, post"], ["data", "access of a variable, point of --point"],
		["task", "begin, create, join, fork, exec, end"], ["syscall", "system call"], ["other", "yield, resume"],
		["wait", "waits, for what the bar names"],
	];
	const items = entries.map(([colour, text]) => {
		const mark = make("i", {});
		mark.style.background = `var(--${colour})`;
		return make("li", {}, mark, text);
	});
	const line = (colour, height, text) => {
		const mark = make("i", {});
		mark.style.cssText = `height: ${height}px; background: var(--${colour})`;
		return make("li", {}, mark, text);
	};
	byId("legend").replaceChildren(...items, line("turn", 2, "could run, but does not have the turn; a bar ends it"),
		line("alarm", 3, "the turn is taken: a preemption"),
		make("li", {}, make("span", {}, "Arrows, happens before: ",
			...ARROWS.flatMap((a, i) => {
				const word = make("span", {}, ["creates", "wakes", "hands over", "accesses the same"][i]);
				word.style.color = `var(--${a.colour})`;
				return [word, i < 3 ? ", " : ""];
			}))));
}

function showStatus() {
	const shown = view.width / view.scale, whole = view.isWhole();
	byId("status").textContent = `${whole ? "all " : ""}${plural(Math.min(model.nr, Math.round(shown)), "step")} in view` +
		(view.scale < DETAIL ? "; zoom in for single steps and arrows" : view.drawn.arrowsLeftOut ? "; zoom in for arrows" : "") +
		(view.contentHeight > view.height - RULER ? "; drag or Page Down for more lanes" : "");
}

async function start() {
	const began = performance.now();
	const raw = await readData();
	model = new Model(raw);
	readTheme();
	view = new View(model, byId("lanes"), byId("overview"));
	view.ondraw = showStatus;
	details = new Details(model, go);
	showHead();
	showLegend();
	details.showStory();
	details.showStacks();
	details.showOutput();
	details.showAbout();
	view.resize();
	new ResizeObserver(() => view.resize()).observe(view.stage);
	darkQuery.addEventListener("change", () => {
		readTheme();
		view.overviewBase = null;
		details.showStep(view.selected);
		view.redraw();
	});
	listenToMouse();
	listenToButtons();
	/* the page opens at the last preemption, or at the end; it is zoomed in when not everything can be read */
	select(-1);
	if (view.minScale() < TEXT_MIN / 2 && model.nr) {
		view.scale = READING;
		view.start = model.nr;
		view.clamp();
	}
	if (model.nr)
		select(model.preemptions.length ? model.preemptions[model.preemptions.length - 1] : model.nr - 1);
	window.zug = { model, view, select, search, loadMs: performance.now() - began };
	document.documentElement.dataset.ready = "yes";
}

start().catch(e => say("This page cannot show its trace: " + e.message));
