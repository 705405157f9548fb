/* details.js - the panel beside the lanes: the selected step, the preemptions, stacks, output */

const LISTED_MAX = 100;

class Details {
	constructor(model, go) {
		this.model = model;
		this.go = go;
	}

	link(step, text) {
		return make("button", { class: "link", onclick: () => this.go(step) }, text ?? `step ${count(step + this.model.first)}`);
	}

	source(frame) {
		const source = this.model.source(frame);
		if (!source)
			return null;
		if (!source.lines)
			return source.path && make("p", { class: "missing" }, "cannot find the source: " + source.path);
		return make("div", { class: "source mono" }, ...source.lines.map(([n, text, here]) =>
			make("div", { class: here ? "here" : undefined }, make("span", {}, String(n)), text || " ")),
		source.younger ? make("p", { class: "missing" }, "This file was changed after the trace was written: line numbers may be wrong.") : null);
	}

	/* "waiter lost-wakeup.c:38", and the functions into which it is inlined. */
	placeLines(step) {
		const m = this.model, frames = m.frames(step), main = m.mainFrame(frames);
		if (main < 0)
			return m.rawPlace(step) ? [make("p", { class: "dim mono" }, m.rawPlace(step))] : [];
		const others = frames.filter(f => f !== main);
		return [
			make("p", { class: "mono" }, m.frameText(main)),
			others.length ? make("p", { class: "dim mono" }, "with " + others.map(f => m.frameText(f)).join(", ")) : null,
		];
	}

	preemption(step) {
		const m = this.model, stopped = m.lane[step - 1], task = m.lanes[stopped].task, next = m.stepAfter(stopped, step);
		const name = m.taskName(task), other = m.taskName(m.lanes[m.lane[step]].task);
		return make("div", { class: "why" },
			make("p", {}, make("b", {}, "Preemption: "), next < 0 ?
				`${name} could have gone on, but ${other} got the turn, and ${name} never ran again.` :
				`${name} was stopped before `, next < 0 ? null : make("b", {}, m.text(next)),
			next < 0 ? null : ` although it could go on, and ${other} got the turn. ${name} goes on at `,
			next < 0 ? null : this.link(next), next < 0 ? null : "."),
			...(next < 0 ? [] : [...this.placeLines(next).filter(Boolean), this.source(m.mainFrame(m.frames(next))) ?? ""]));
	}

	showStep(step) {
		const m = this.model, panel = byId("selected");
		if (step < 0) {
			panel.replaceChildren(make("h2", {}, "Selected step"),
				make("p", { class: "dim" }, "None. Click a step, or press \u2192."));
			return;
		}
		const lane = m.lane[step], l = m.lanes[lane], kind = m.opClass(step), last = step === m.nr - 1;
		const chip = make("span", { class: "chip" });
		chip.style.background = theme[kind];
		panel.replaceChildren(
			make("div", { class: "line" }, make("h2", {}, `Step ${count(step + m.first)}`),
				make("span", { class: "dim" }, `T${l.task} ${l.comm}`)),
			step && m.flags[step] & PREEMPTION ? this.preemption(step) : "",
			make("p", { class: "label" }, chip, m.text(step)),
			...this.placeLines(step).filter(Boolean),
			this.source(m.mainFrame(m.frames(step))) ?? "",
			last && m.first + m.nr >= m.raw.total && m.raw.outcome?.finding ?
				make("p", { class: "why" }, make("b", {}, "The last step. "), m.raw.outcome.words) : "",
			this.others(step), this.arrows(step));
	}

	/* The other tasks at that step: those that could have run instead, and those that waited. */
	others(step) {
		const m = this.model, enabled = new Set(m.raw.sets[m.set[step]]), items = [];
		let left = 0;
		m.lanes.forEach((l, i) => {
			if (i === m.lane[step] || step < l.begin || (l.gone && step >= l.end))
				return;
			if (items.length >= 12) {
				left++;
				return;
			}
			const next = m.stepAfter(i, step), wait = m.waitAt(i, step);
			if (enabled.has(l.task))
				items.push(make("li", {}, `T${l.task} could have run`, next < 0 ? "" : ": ",
					next < 0 ? "" : this.link(next, m.text(next))));
			else if (wait >= 0)
				items.push(make("li", {}, `T${l.task} ${m.waitText(i, wait)}`));
		});
		if (left)
			items.push(make("li", { class: "dim" }, `and ${plural(left, "more task")}`));
		return items.length ? make("div", {}, make("h2", {}, "The others"), make("ul", { class: "plain" }, ...items)) : "";
	}

	arrows(step) {
		const m = this.model, items = [];
		for (const i of view.arrowsOf(step)) {
			const back = m.arrowTo[i] === step, other = back ? m.arrowFrom[i] : m.arrowTo[i];
			const kind = ARROWS[m.arrowKind[i]], chip = make("span", { class: "chip" });
			chip.style.background = theme[kind.colour];
			items.push(make("li", {}, chip, `${back ? kind.back : kind.name} `, this.link(other),
				`, T${m.lanes[m.lane[other]].task} ${m.text(other)}`));
		}
		return items.length ? make("div", {}, make("h2", {}, "Happens before, and after"),
			make("ul", { class: "plain" }, ...items.slice(0, 20))) : "";
	}

	/* The two operations whose order decides; or an update that the second came into (alone is null). */
	critical() {
		const m = this.model, c = m.raw.critical;
		if (!c)
			return [];
		const [alone, ...both] = c;
		const [first, second] = both.map(([task, step, label]) => {
			const parts = [step < 0 ? "" : make("b", {}, `step ${count(step + m.first)}`), `  T${task} ${m.labelText(label)}`,
				make("span", { class: "dim" }, "  " + m.labelPlace(label))];
			return step < 0 ? make("p", {}, ...parts.slice(1)) :
				make("button", { class: "item", "data-step": step, onclick: () => this.go(step) }, ...parts);
		});
		return [make("h2", {}, alone === null ? "It may fail because" : "It fails when"), first,
			make("p", { class: "dim" }, "before"), second,
			make("p", { class: "dim" }, alone === null ?
				"and what was read before that change is the base of a later one. No schedule without that was seen to pass." :
				`and passes when ${alone ? "these two alone come the other way round." :
					"they come the other way round (and others with them)."}`)];
	}

	/* Without preemptions, switches where several tasks could run are the decisions. */
	showChoices() {
		const m = this.model, all = [];
		for (let step = 1; step < m.nr; step++)
			if (m.lane[step] !== m.lane[step - 1] && m.raw.sets[m.set[step]].length > 1)
				all.push(step);
		byId("story").replaceChildren(...this.critical(), make("h2", {}, "No preemption"),
			make("p", { class: "dim" }, "No task was stopped that could have gone on." + (!all.length ?
				" Wherever one blocked, yielded or ended only one other could run." :
				" These are the switches where several tasks could run:")),
			...all.slice(-LISTED_MAX).map(step => make("button", { class: "item", "data-step": step, onclick: () => this.go(step) },
				make("b", {}, `step ${count(step + m.first)}`), `  T${m.lanes[m.lane[step]].task}, not `,
				m.raw.sets[m.set[step]].filter(t => t !== m.lanes[m.lane[step]].task).slice(0, 8).map(t => "T" + t).join(", "))));
	}

	showStory() {
		const m = this.model, all = m.preemptions, listed = all.slice(-LISTED_MAX);
		if (!all.length)
			return this.showChoices();
		const items = [...listed].filter(s => s > 0).map(step => {
			const stopped = m.lane[step - 1], next = m.stepAfter(stopped, step);
			return make("button", { class: "item", "data-step": step, onclick: () => this.go(step) },
				make("b", {}, `step ${count(step + m.first)}`),
				`  T${m.lanes[stopped].task} is stopped`, next < 0 ? "" : ` before ${m.text(next)}`,
				make("span", { class: "dim" }, next < 0 ? "" : `  ${m.place(next)}`),
				`; T${m.lanes[m.lane[step]].task} goes on`);
		});
		byId("story").replaceChildren(...this.critical(), make("h2", {}, plural(all.length, "preemption")),
			all.length > listed.length ? make("p", { class: "dim" },
				`The last ${LISTED_MAX} are listed; n and p go through all.`) : "",
			...items);
	}

	markStory(step) {
		for (const e of byId("story").querySelectorAll(".item"))
			e.classList.toggle("now", Number(e.dataset.step) === step);
	}

	showStacks() {
		const m = this.model, cwd = f => m.raw.frames[f][1] >= 0 && m.raw.files[m.raw.frames[f][1]][2];
		if (!m.raw.stacks.length)
			return;
		byId("stacks").replaceChildren(make("h2", {}, "Stacks at the end"), ...m.raw.stacks.map(([task, state, frames], i) => {
			const list = make("ol", { start: 0 });
			for (const frame of frames) {
				const item = make("li", { class: cwd(frame) ? undefined : "outside" });
				item.append(make("button", { class: "link mono", onclick: () => {
					if (item.childNodes.length > 1)
						item.lastChild.remove();
					else
						item.append(this.source(frame) ?? make("p", { class: "missing" }, "no source line is known"));
				} }, m.frameText(frame) + (m.raw.frames[frame][3] ? " (inlined)" : "")));
				list.append(item);
			}
			const here = frames.find(cwd);
			const lane = m.lanes[m.laneOf.get(task)];
			return make("details", { open: i < 3 ? "" : undefined }, make("summary", {}, make("b", {}, `T${task}`),
				` ${lane ? lane.comm : ""}: ${m.string(state)}`), here === undefined ? "" : this.source(here) ?? "", list);
		}));
	}

	showOutput() {
		const [outHead, outTail, errHead, errTail] = this.model.raw.outcome?.output ?? [];
		const parts = [];
		for (const [name, head, tail] of [["Standard output", outHead, outTail], ["Standard error", errHead, errTail]]) {
			if (!head && !tail)
				continue;
			parts.push(make("h2", {}, name), make("pre", {}, head ?? "", head && tail ? "\n[... left out ...]\n" : "", tail ?? ""));
		}
		if (parts.length)
			byId("output").replaceChildren(...parts);
	}

	showAbout() {
		const raw = this.model.raw;
		byId("about").replaceChildren(make("h2", {}, "Commands"),
			make("pre", {}, `zug replay ${raw.trace}\nzug show ${raw.trace}`),
			make("p", { class: "dim" }, `in ${raw.cwd}; zug ${raw.zug}, Linux ${raw.kernel}`));
	}
}
