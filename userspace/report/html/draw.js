/*
 * draw.js - the lanes and the overview, on canvas
 *
 * What is drawn depends on the width of the window, not on the number of steps: where steps are
 * narrower than DETAIL pixels, each pixel column asks by binary search what is in it.
 */

const DETAIL = 3, TEXT_MIN = 30, SCALE_MAX = 220, READING = 84;
const GUTTER = 150, RULER = 30, HEAD = 20, LANE_MAX = 52, LANE_MIN = 24;
const ARROWS_MAX = 300;
/* pixels behind the end of a short trace, for the text of waits that last to the end */
const SHORT = 120, TAIL = 210;

class View {
	constructor(model, stage, overview) {
		this.model = model;
		this.stage = stage;
		this.overview = overview;
		this.start = 0;		/* step at the left edge; may be a fraction */
		this.scale = 1;		/* pixels a step */
		this.top = 0;		/* pixels scrolled down */
		this.selected = -1;
		this.hovered = null;
		this.matches = new Uint32Array(0);
		this.drawn = { boxes: 0, columns: 0, arrows: 0, frames: 0, arrowsLeftOut: false };
		this.pending = false;
		/* steps of room behind the last one, for waits that last to the end and for the failure's name */
		this.tail = 2.5;
	}

	resize() {
		const whole = this.isWhole();
		this.width = this.stage.clientWidth - GUTTER;
		if (this.model.nr < SHORT && this.width > 3 * TAIL)
			this.tail = Math.max(1.5, TAIL * this.model.nr / (this.width - TAIL));
		this.height = this.stage.clientHeight;
		const heads = this.model.lanes.filter(l => l.heads).length * HEAD;
		const room = (this.height - RULER - heads - 8) / Math.max(1, this.model.lanes.length);
		this.laneHeight = Math.max(LANE_MIN, Math.min(LANE_MAX, Math.floor(room)));
		let y = 0;
		this.laneY = this.model.lanes.map(l => {
			y += l.heads ? HEAD : 0;
			y += this.laneHeight;
			return y - this.laneHeight;
		});
		this.contentHeight = y + 8;
		if (whole)
			this.fit();
		else
			this.clamp();
		this.overviewBase = null;
	}

	units() {
		return this.model.nr + this.tail;
	}

	minScale() {
		return Math.min(this.width / this.units(), SCALE_MAX / 2);
	}

	isWhole() {
		return this.width === undefined || this.scale <= this.minScale() * 1.0001;
	}

	clamp() {
		this.scale = Math.max(this.minScale(), Math.min(SCALE_MAX, this.scale));
		this.start = Math.max(0, Math.min(this.units() - this.width / this.scale, this.start));
		this.top = Math.max(0, Math.min(this.contentHeight - (this.height - RULER), this.top));
		this.redraw();
	}

	fit() {
		this.scale = this.minScale();
		this.start = 0;
		this.clamp();
	}

	zoom(factor, x = this.selected >= 0 && this.isVisible(this.selected) ? this.x(this.selected) : GUTTER + this.width / 2) {
		const at = this.stepAt(x);
		this.scale *= factor;
		this.scale = Math.max(this.minScale(), Math.min(SCALE_MAX, this.scale));
		this.start = at - (x - GUTTER) / this.scale;
		this.clamp();
	}

	/* By most of a screen of lanes. */
	scroll(direction) {
		this.top += direction * 0.8 * (this.height - RULER);
		this.clamp();
	}

	x(step) {
		return GUTTER + (step - this.start) * this.scale;
	}

	y(lane) {
		return RULER + this.laneY[lane] - this.top;
	}

	stepAt(x) {
		return this.start + (x - GUTTER) / this.scale;
	}

	laneAt(y) {
		return this.laneY.findIndex((top, i) => y >= this.y(i) && y < this.y(i) + this.laneHeight);
	}

	isVisible(step) {
		return step >= this.start && step + 1 <= this.start + this.width / this.scale;
	}

	/* Brings a step into view, as wide as it is read best if the steps are narrow now. */
	reveal(step, closer) {
		if (closer && this.scale < TEXT_MIN)
			this.scale = Math.max(this.minScale(), READING);
		if (closer || !this.isVisible(step))
			this.start = step + 0.5 - this.width / this.scale / 2;
		const lane = this.model.lane[step];
		if (this.y(lane) < RULER || this.y(lane) + this.laneHeight > this.height)
			this.top = this.laneY[lane] - (this.height - RULER) / 2;
		this.clamp();
	}

	redraw() {
		if (this.pending)
			return;
		this.pending = true;
		requestAnimationFrame(() => {
			this.pending = false;
			this.draw();
			this.drawOverview();
			this.ondraw?.();
		});
	}

	/* ---- the lanes ---- */

	draw() {
		/* the page may have been laid out anew since the observer spoke last */
		if (this.stage.clientHeight !== this.height || this.stage.clientWidth - GUTTER !== this.width)
			this.resize();
		const c = this.c = fitCanvas(this.stage), m = this.model;
		const a = Math.max(0, Math.floor(this.start)), b = Math.min(m.nr, Math.ceil(this.start + this.width / this.scale));
		this.drawn.boxes = this.drawn.columns = this.drawn.arrows = 0;
		this.drawn.frames++;
		c.fillStyle = theme.back;
		c.fillRect(0, 0, GUTTER + this.width, this.height);
		c.textBaseline = "middle";
		c.save();
		c.beginPath();
		c.rect(GUTTER, RULER, this.width, this.height - RULER);
		c.clip();
		const lanes = [];
		for (let i = 0; i < m.lanes.length; i++)
			if (this.y(i) + this.laneHeight > RULER && this.y(i) < this.height)
				lanes.push(i);
		for (const i of lanes)
			this.drawLane(i, a, b);
		if (this.scale >= DETAIL) {
			this.drawTurns(a, b);
			for (let i = a; i < b; i++)
				this.drawBox(i);
		} else {
			for (const i of lanes)
				this.drawColumns(i, a, b);
		}
		this.drawArrows(a, b);
		this.drawEnd();
		c.restore();
		this.drawGutter(lanes);
		this.drawRuler(a, b);
	}

	boxTop(lane) {
		return this.y(lane) + 4;
	}

	boxHeight() {
		return this.laneHeight - 8;
	}

	drawLane(i, a, b) {
		const c = this.c, l = this.model.lanes[i], y = this.y(i), middle = y + this.laneHeight / 2;
		if (l.heads) {
			c.fillStyle = theme.panel;
			c.fillRect(GUTTER, y - HEAD, this.width, HEAD);
		}
		if (i % 2 === 0) {
			c.fillStyle = theme.band;
			c.fillRect(GUTTER, y, this.width, this.laneHeight);
		}
		const end = l.gone ? this.x(l.end) : this.x(this.model.nr);
		if (l.begin < Infinity) {
			c.fillStyle = theme.turn;
			c.fillRect(Math.max(GUTTER, this.x(l.begin)), middle - 1, Math.max(0, end - Math.max(GUTTER, this.x(l.begin))), 2);
			if (l.gone)
				c.fillRect(end - 1, middle - 6, 2, 12);
		}
		/* waits; of those narrower than a pixel, one a pixel */
		const w = l.waits, half = Math.min(9, this.laneHeight / 2 - 5);
		let k = Math.max(0, lowerBound(w.from, a) - 1);
		while (k < w.from.length && w.from[k] <= b) {
			const open = w.to[k] >= this.model.nr && !l.gone;
			const x0 = Math.max(GUTTER - 2, this.x(w.from[k])), x1 = open ? GUTTER + this.width + 2 : this.x(w.to[k]);
			if (x1 > GUTTER) {
				c.fillStyle = theme.back;
				c.fillRect(x0, middle - half, Math.max(1, x1 - x0), 2 * half);
				c.fillStyle = theme.wait;
				c.globalAlpha = 0.55;
				c.fillRect(x0, middle - half, Math.max(1, x1 - x0), 2 * half);
				c.globalAlpha = 1;
				if (x1 - x0 > 46)
					this.boxText(this.model.waitText(i, k), x0 + 5, middle, x1 - x0 - 8, theme["wait-text"], "12px system-ui, sans-serif");
			}
			k = x1 - x0 >= 1 ? k + 1 : Math.max(k + 1, lowerBound(w.to, this.stepAt(x0 + 1)));
		}
	}

	boxText(text, x, y, width, colour, font) {
		const c = this.c;
		c.font = font;
		c.fillStyle = colour;
		c.fillText(this.shortened(text, width), x, y);
	}

	shortened(text, width) {
		const c = this.c;
		if (c.measureText(text).width <= width)
			return text;
		let low = 0, high = text.length;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (c.measureText(text.slice(0, middle) + "\u2026").width <= width)
				low = middle;
			else
				high = middle - 1;
		}
		return low ? text.slice(0, low) + "\u2026" : "";
	}

	/* The thread of the turn, from lane to lane; red where it was taken. */
	drawTurns(a, b) {
		const c = this.c, m = this.model;
		for (let i = Math.max(1, a); i <= Math.min(b, m.nr - 1); i++) {
			if (m.lane[i] === m.lane[i - 1])
				continue;
			const taken = m.flags[i] & PREEMPTION, x = Math.round(this.x(i)) + (taken ? 0 : 0.5);
			const from = this.y(m.lane[i - 1]) + this.laneHeight / 2, to = this.y(m.lane[i]) + this.laneHeight / 2;
			const down = Math.sign(to - from);
			c.strokeStyle = c.fillStyle = taken ? theme.alarm : theme.turn;
			c.lineWidth = taken ? 2 : 1;
			c.beginPath();
			c.moveTo(x, from);
			c.lineTo(x, to);
			c.stroke();
			if (!taken || this.scale < 8)
				continue;
			c.beginPath();
			c.arc(x, from, 3.5, 0, 7);
			c.fill();
			c.beginPath();
			c.moveTo(x, to + down * 1);
			c.lineTo(x - 4.5, to - down * 8);
			c.lineTo(x + 4.5, to - down * 8);
			c.fill();
		}
	}

	drawBox(i) {
		const c = this.c, m = this.model, lane = m.lane[i], x = this.x(i), top = this.boxTop(lane), height = this.boxHeight();
		const gap = this.scale > 8 ? 1.5 : this.scale > 5 ? 0.5 : 0, width = this.scale - 2 * gap, kind = m.opClass(i);
		if (top > this.height || top + height < RULER)
			return;
		this.drawn.boxes++;
		c.fillStyle = theme[kind];
		if (width > 12) {
			c.beginPath();
			c.roundRect(x + gap, top, width, height, 3);
			c.fill();
		} else {
			c.fillRect(x + gap, top, width, height);
		}
		if (this.scale >= TEXT_MIN) {
			const colour = kind === "release" ? theme["box-text-light"] : theme["box-text"], object = m.operand(i);
			const middle = top + height / 2, two = height >= 34 && object;
			this.boxText(m.op(i), x + gap + 5, two ? middle - 8 : middle, width - 8, colour, "600 12px system-ui, sans-serif");
			if (two)
				this.boxText(object, x + gap + 5, middle + 8, width - 8, colour, "12px system-ui, sans-serif");
		}
		if (this.matches.length && this.matches[lowerBound(this.matches, i)] === i) {
			c.strokeStyle = theme.match;
			c.lineWidth = 2;
			c.strokeRect(x + gap, top - 1, Math.max(2, width), height + 2);
		}
		if (i === this.selected) {
			c.strokeStyle = theme.text;
			c.lineWidth = 2.5;
			c.strokeRect(x + gap - 1, top - 2, Math.max(3, width + 2), height + 4);
		}
	}

	/* Too many steps for boxes: how much of each pixel column is this task's. */
	drawColumns(lane, a, b) {
		const c = this.c, steps = this.model.lanes[lane].steps, top = this.boxTop(lane), height = this.boxHeight();
		const perPixel = 1 / this.scale;
		let k = lowerBound(steps, a);
		c.fillStyle = theme.run;
		while (k < steps.length && steps[k] < b) {
			const x = Math.floor(this.x(steps[k])), next = lowerBound(steps, this.stepAt(x + 1));
			c.globalAlpha = Math.min(1, 0.35 + 0.65 * (next - k) / perPixel);
			c.fillRect(x, top, Math.max(1, this.scale), height);
			this.drawn.columns++;
			k = Math.max(k + 1, next);
		}
		c.globalAlpha = 1;
		if (this.matches.length) {
			c.fillStyle = theme.match;
			k = lowerBound(this.matches, a);
			while (k < this.matches.length && this.matches[k] < b) {
				const x = Math.floor(this.x(this.matches[k]));
				if (this.model.lane[this.matches[k]] === lane)
					c.fillRect(x, top, 2, height);
				k = Math.max(k + 1, lowerBound(this.matches, this.stepAt(x + 1)));
			}
		}
		if (this.selected >= 0 && this.model.lane[this.selected] === lane) {
			c.fillStyle = theme.text;
			c.fillRect(this.x(this.selected) - 1, top - 2, 3, height + 4);
		}
	}

	drawArrows(a, b) {
		const m = this.model;
		this.drawn.arrowsLeftOut = false;
		const mine = this.selected < 0 ? new Set() : new Set(this.arrowsOf(this.selected));
		if (this.scale >= DETAIL) {
			const found = m.arrowsIn(a, b, ARROWS_MAX);
			this.drawn.arrowsLeftOut = found.length > ARROWS_MAX;
			for (const i of this.drawn.arrowsLeftOut ? [] : found)
				if (!mine.has(i))
					this.drawArrow(i, false);
		} else {
			this.drawn.arrowsLeftOut = m.arrowTo.length > 0;
		}
		for (const i of mine)
			this.drawArrow(i, true);
	}

	arrowsOf(step) {
		const m = this.model, found = [];
		for (let i = lowerBound(m.arrowTo, step); i < m.arrowTo.length && m.arrowTo[i] === step; i++)
			found.push(i);
		for (let i = lowerBound(m.fromSorted, step); i < m.byFrom.length && m.fromSorted[i] === step; i++)
			found.push(m.byFrom[i]);
		return found;
	}

	drawArrow(i, bold) {
		const c = this.c, m = this.model, from = m.arrowFrom[i], to = m.arrowTo[i];
		const x0 = this.x(from + 1) - Math.min(4, this.scale / 4), x1 = this.x(to) + Math.min(3, this.scale / 4);
		const down = m.lane[to] > m.lane[from];
		const y0 = this.boxTop(m.lane[from]) + (down ? this.boxHeight() : 0);
		const y1 = this.boxTop(m.lane[to]) + (down ? 0 : this.boxHeight());
		const bend = Math.min(60, Math.max(6, (x1 - x0) / 2)), lift = (y1 - y0) / 2;
		this.drawn.arrows++;
		c.strokeStyle = c.fillStyle = theme[ARROWS[m.arrowKind[i]].colour];
		c.globalAlpha = bold ? 1 : 0.5;
		c.lineWidth = bold ? 2.5 : 1.25;
		c.beginPath();
		c.moveTo(x0, y0);
		c.bezierCurveTo(x0 + bend / 2, y0 + lift, x1 - bend / 2, y1 - lift, x1, y1);
		c.stroke();
		if (this.scale > 6 || bold) {
			const tip = down ? -1 : 1;
			c.beginPath();
			c.moveTo(x1, y1);
			c.lineTo(x1 - 3.5, y1 + 7 * tip);
			c.lineTo(x1 + 3.5, y1 + 7 * tip);
			c.fill();
		}
		c.globalAlpha = 1;
	}

	drawEnd() {
		const c = this.c, m = this.model, x = this.x(m.nr), outcome = m.raw.outcome;
		if (x > GUTTER + this.width || m.first + m.nr < m.raw.total)
			return;
		c.fillStyle = outcome && !outcome.finding ? theme.good : theme.alarm;
		c.fillRect(x, RULER, 3, this.height);
	}

	drawGutter(lanes) {
		const c = this.c, m = this.model, shown = this.selected >= 0 ? m.lane[this.selected] : -1;
		c.fillStyle = theme.panel;
		c.fillRect(0, RULER, GUTTER, this.height);
		c.save();
		c.beginPath();
		c.rect(0, RULER, GUTTER + this.width, this.height);
		c.clip();
		for (const i of lanes) {
			const l = m.lanes[i], y = this.y(i), middle = y + this.laneHeight / 2;
			if (l.heads)
				this.boxText(`process ${l.pid || "?"}`, 12, y - HEAD / 2, 130, theme.dim, "11px system-ui, sans-serif");
			if (i === shown) {
				c.fillStyle = theme.accent;
				c.fillRect(0, y, 3, this.laneHeight);
			}
			this.boxText("T" + l.task, 12, middle, 44, theme.text, "600 13px system-ui, sans-serif");
			const pid = m.processes > 1 && l.alone;
			this.boxText(l.comm, 52, pid ? middle - 7 : middle, GUTTER - 60, theme.dim, "12px system-ui, sans-serif");
			if (pid)
				this.boxText("process " + (l.pid || "?"), 52, middle + 8, GUTTER - 60, theme.faint, "11px system-ui, sans-serif");
		}
		c.restore();
		c.fillStyle = theme.edge;
		c.fillRect(GUTTER - 1, 0, 1, this.height);
	}

	drawRuler(a, b) {
		const c = this.c, m = this.model, step = Math.max(1, niceStep(70 / this.scale)), middle = RULER / 2;
		c.fillStyle = theme.panel;
		c.fillRect(0, 0, GUTTER + this.width, RULER);
		this.boxText("step", 12, middle, 60, theme.dim, "12px system-ui, sans-serif");
		c.save();
		c.beginPath();
		c.rect(GUTTER, 0, this.width, this.height);
		c.clip();
		for (let s = Math.ceil((a + m.first) / step) * step - m.first; s < b; s += step) {
			c.fillStyle = theme.edge;
			c.fillRect(this.x(s), RULER - 7, 1, 7);
			this.boxText(count(s + m.first), this.x(s) + 4, middle - 3, 80, theme.dim, "11px system-ui, sans-serif");
		}
		/* preemptions: flags, one a few pixels at most */
		c.fillStyle = theme.alarm;
		for (let k = lowerBound(m.preemptions, a); k < m.preemptions.length && m.preemptions[k] <= b;) {
			const x = this.x(m.preemptions[k]);
			c.beginPath();
			c.moveTo(x, RULER);
			c.lineTo(x - 5, RULER - 9);
			c.lineTo(x + 5, RULER - 9);
			c.fill();
			k = Math.max(k + 1, lowerBound(m.preemptions, this.stepAt(x + 4)));
		}
		for (const n of m.messages)
			if (n.kind === NOTE.MESSAGE && n.at >= a && n.at <= b)
				this.boxText("!", this.x(n.at) - 2, middle, 10, theme.alarm, "700 13px system-ui, sans-serif");
		if (m.first + m.nr >= m.raw.total && m.raw.outcome) {
			c.fillStyle = m.raw.outcome.finding ? theme.alarm : theme.good;
			c.font = "600 12px system-ui, sans-serif";
			const width = c.measureText(m.raw.outcome.kind).width + 12;
			const x = Math.min(this.x(m.nr), GUTTER + this.width - width);
			if (this.x(m.nr) <= GUTTER + this.width) {
				c.fillRect(x, 4, width, RULER - 8);
				this.boxText(m.raw.outcome.kind, x + 6, middle, 200, theme.back, "600 12px system-ui, sans-serif");
			}
		}
		c.restore();
		c.fillStyle = theme.edge;
		c.fillRect(0, RULER - 1, GUTTER + this.width, 1);
	}

	/* ---- the overview: the whole execution, at any zoom ---- */

	overviewX(step) {
		return GUTTER + step / this.units() * (this.overview.clientWidth - GUTTER);
	}

	overviewStep(x) {
		return (x - GUTTER) / (this.overview.clientWidth - GUTTER) * this.units();
	}

	makeOverview() {
		const m = this.model, width = this.overview.clientWidth, height = this.overview.clientHeight;
		const base = document.createElement("canvas"), c = base.getContext("2d"), rows = m.lanes.length;
		base.width = width;
		base.height = height;
		c.fillStyle = theme.panel;
		c.fillRect(0, 0, width, height);
		const row = (height - 10) / rows;
		for (let i = 0; i < rows; i++) {
			const steps = m.lanes[i].steps;
			c.fillStyle = theme.run;
			for (let k = 0; k < steps.length;) {
				const x = Math.floor(this.overviewX(steps[k]));
				c.fillRect(x, 8 + i * row, Math.max(1, this.overviewX(1) - GUTTER), Math.max(1, row - (row > 3 ? 1 : 0)));
				k = Math.max(k + 1, lowerBound(steps, this.overviewStep(x + 1)));
			}
		}
		c.fillStyle = theme.alarm;
		for (let k = 0; k < m.preemptions.length;) {
			const x = Math.floor(this.overviewX(m.preemptions[k]));
			c.fillRect(x, 0, 2, 6);
			k = Math.max(k + 1, lowerBound(m.preemptions, this.overviewStep(x + 1)));
		}
		return base;
	}

	drawOverview() {
		const c = fitCanvas(this.overview), width = this.overview.clientWidth, height = this.overview.clientHeight;
		this.overviewBase ??= this.makeOverview();
		c.drawImage(this.overviewBase, 0, 0, width, height);
		c.fillStyle = theme.match;
		for (let k = 0; k < this.matches.length;) {
			const x = Math.floor(this.overviewX(this.matches[k]));
			c.fillRect(x, height - 4, 1.5, 4);
			k = Math.max(k + 1, lowerBound(this.matches, this.overviewStep(x + 1)));
		}
		const x0 = this.overviewX(this.start), x1 = Math.max(x0 + 3, this.overviewX(this.start + this.width / this.scale));
		c.fillStyle = theme.accent;
		c.globalAlpha = 0.14;
		c.fillRect(x0, 0, x1 - x0, height);
		c.globalAlpha = 1;
		c.strokeStyle = theme.accent;
		c.strokeRect(x0 + 0.5, 0.5, x1 - x0 - 1, height - 1);
		if (this.selected >= 0) {
			c.fillStyle = theme.text;
			c.fillRect(this.overviewX(this.selected), 0, 2, height);
		}
		c.fillStyle = theme.panel;
		c.fillRect(0, 0, GUTTER - 1, height);
		c.font = "12px system-ui, sans-serif";
		c.fillStyle = theme.dim;
		c.textBaseline = "middle";
		c.fillText("overview", 12, height / 2);
	}
}
