/* campaign.js - the page of a campaign: curves over executions and time, coverage, strategies, findings */

const charts = [];
const COLOURS = ["acquire", "data", "task", "syscall", "match", "wait", "other", "text"];
/* executions before the search, which show the files that the test maps */
const FIRST_LOOK = "first look";

/* parts of an execution's time that each question has */
const HOPS = ["stop", "wake-up", "reading", "search", "trace", "grant"];

const last = list => list[list.length - 1];

function duration(ms) {
	if (ms < 1000)
		return Math.round(ms) + " ms";
	if (ms < 120e3)
		return (ms / 1000).toFixed(1) + " s";
	return ms < 7200e3 ? (ms / 60e3).toFixed(1) + " min" : (ms / 3600e3).toFixed(1) + " h";
}

/* Joins campaigns that were resumed into one: executions and times are added up. */
function joined(campaigns) {
	let n = 0, at = 0;
	const samples = [], findings = [];
	for (const c of campaigns) {
		for (const s of c.samples)
			samples.push({ ...s, n: s.n + n, at: s.at + at });
		/* a bound is known to be complete only when no further execution comes */
		if (c.end && c.samples.length)
			last(samples).bound_done = c.end.bound_done;
		for (const f of c.findings)
			findings.push({ ...f, finding: f.finding + n, at: f.at + at });
		const end = last(c.samples);
		n += end ? end.n : 0;
		at += end ? end.at : 0;
	}
	return { samples, findings };
}

/* lines: [{ name, colour, points: [[x, y]], stepped }] */
class Chart {
	constructor(title, note, xName, xFormat, lines, marks) {
		this.canvas = make("canvas", { role: "img", "aria-label": title });
		this.lines = lines.filter(l => l.points.length);
		this.marks = marks ?? [];
		this.xFormat = xFormat;
		this.xName = xName;
		this.element = make("section", { class: "chart" }, make("h2", {}, title), make("p", {}, note), this.canvas);
		if (this.lines.length > 1)
			this.element.append(make("p", { class: "key" }, ...this.lines.map(l => {
				const mark = make("i", {});
				mark.style.background = `var(--${l.colour})`;
				return make("span", {}, mark, l.name);
			})));
		charts.push(this);
	}

	draw() {
		const c = fitCanvas(this.canvas), width = this.canvas.clientWidth, height = this.canvas.clientHeight;
		const left = 58, right = width - 12, top = 10, bottom = height - 30;
		const xMax = Math.max(1, ...this.lines.map(l => last(l.points)[0])), yMax = Math.max(1, ...this.lines.map(l =>
			l.points.reduce((m, p) => Math.max(m, p[1]), 0)));
		const x = v => left + v / xMax * (right - left), y = v => bottom - v / yMax * (bottom - top);
		c.clearRect(0, 0, width, height);
		c.font = "11px system-ui, sans-serif";
		c.lineWidth = 1;
		c.fillStyle = theme.dim;
		c.textBaseline = "middle";
		c.textAlign = "right";
		const whole = this.lines.every(l => l.points.every(p => Number.isInteger(p[1])));
		const yStep = Math.max(whole ? 1 : 0.1, niceStep(yMax / 5));
		for (let v = 0; v <= yMax; v += yStep) {
			c.strokeStyle = theme.edge;
			c.beginPath();
			c.moveTo(left, Math.round(y(v)) + 0.5);
			c.lineTo(right, Math.round(y(v)) + 0.5);
			c.stroke();
			c.fillText(yStep < 1 ? v.toFixed(1) : count(v), left - 6, y(v));
		}
		c.textAlign = "center";
		const xStep = niceStep(xMax / Math.max(2, (right - left) / 90));
		for (let v = 0; v <= xMax; v += xStep)
			c.fillText(this.xFormat(v), Math.min(x(v), right - 14), bottom + 12);
		c.textAlign = "right";
		c.fillText(this.xName, right, bottom + 24);
		for (const mark of this.marks) {
			c.strokeStyle = theme.alarm;
			c.setLineDash([3, 3]);
			c.beginPath();
			c.moveTo(x(mark), top);
			c.lineTo(x(mark), bottom);
			c.stroke();
			c.setLineDash([]);
		}
		for (const line of this.lines) {
			c.strokeStyle = c.fillStyle = theme[line.colour];
			c.lineWidth = 2;
			c.beginPath();
			line.points.forEach(([px, py], i) => {
				if (i && line.stepped)
					c.lineTo(x(px), y(line.points[i - 1][1]));
				c[i ? "lineTo" : "moveTo"](x(px), y(py));
			});
			c.stroke();
			if (line.points.length === 1) {
				c.beginPath();
				c.arc(x(line.points[0][0]), y(line.points[0][1]), 3, 0, 7);
				c.fill();
			}
		}
		this.shown = { lines: this.lines.length, points: this.lines.reduce((n, l) => n + l.points.length, 0) };
	}
}

function table(heads, rows) {
	return make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(([name, number]) =>
		make("th", { class: number ? "number" : undefined }, name)))),
	make("tbody", {}, ...rows.map(row => make("tr", {}, ...row.map((cell, i) =>
		make("td", { class: heads[i][1] ? "number" : undefined }, cell))))));
}

const card = (value, name) => make("div", { class: "card" }, make("b", {}, value), name);

function showHead(raw, campaign, all) {
	const { head, end } = campaign, total = last(all.samples), nr = all.findings.length;
	byId("badge").textContent = nr ? plural(nr, "failure") : "nothing found";
	byId("badge").className = "badge " + (nr ? "fail" : "pass");
	byId("words").textContent = nr ? all.findings[0].message || all.findings[0].kind :
		end ? `ended: ${end.end}` : "the record has no end: the campaign still runs, or was killed";
	byId("facts").replaceChildren(make("b", { class: "mono" }, head.argv.join(" ")),
		`  ${head.strategy}, seed ${head.seed}; from ${new Date(head.start * 1000).toISOString().replace("T", " ").slice(0, 16)} UTC` +
		`; zug ${head.zug_version}, Linux ${head.kernel}`);
	if (raw.campaigns.length > 1)
		say(`This record has ${raw.campaigns.length} campaigns, one after the other: they are joined here. ` +
			"Each campaign counts its distinct schedules for itself.");
	if (!total)
		return;
	byId("cards").replaceChildren(
		card(count(total.n), "executions"), card(duration(total.at), "time"),
		card((total.n / Math.max(total.at, 1) * 1000).toFixed(1), "executions a second"),
		card(count(total.distinct), "equivalence classes"),
		card(total.chance === null ? "?" : (100 * total.chance).toFixed(1) + " %", "chance that the next one is new"),
		card(total.bound_done === null ? "none" : "up to " + total.bound_done, "preemptions covered completely"));
}

function showCharts(all) {
	const s = all.samples, found = all.findings;
	const line = (name, colour, f) => ({ name, colour, points: [[0, 0], ...s.map(p => [p.n, f(p)])] });
	const names = [...new Set(s.flatMap(p => Object.keys(p.by)))].filter(name => name !== FIRST_LOOK);
	const per = (i, title, note) => new Chart(title, note, "executions", count, names.map((name, k) => ({
		name, colour: COLOURS[k % COLOURS.length], stepped: true, points: s.filter(p => p.by[name]).map(p => [p.n, p.by[name][i]]) })));
	byId("charts").replaceChildren(...[
		new Chart("New behaviours", "Distinct schedules, and the equivalence classes of them. A curve that becomes " +
			"horizontal shows that few new behaviours are left. Red: a failure seen for the first time.", "executions", count,
		[line("schedules", "acquire", p => p.schedules), line("equivalence classes", "task", p => p.distinct)], found.map(f => f.finding)),
		new Chart("Executions over time", "A straight line is an even speed.", "", duration,
			[{ name: "executions", colour: "acquire", points: [[0, 0], ...s.map(p => [p.at, p.n])] }], found.map(f => f.at)),
		new Chart("Chance of something new", "The probability that the next execution shows a new behaviour: the share of " +
			"behaviours that were seen only once (Good and Turing).", "executions", count,
		[{ name: "chance", colour: "data", points: s.filter(p => p.chance !== null).map(p => [p.n, p.chance]) }], found.map(f => f.finding)),
		new Chart("Coverage by bound", "Number of preemptions up to which every schedule of the known points was tried, " +
			"and the bound that is tried now. Only systematic strategies have a bound.", "executions", count, [
			{ name: "tried now", colour: "wait", stepped: true, points: s.filter(p => p.bound !== null).map(p => [p.n, p.bound]) },
			{ name: "covered", colour: "good", stepped: true, points: s.filter(p => p.bound_done !== null).map(p => [p.n, p.bound_done]) },
		]),
		per(1, "New behaviours by strategy", "Executions of each strategy that showed a behaviour for the first time."),
		per(0, "Executions by strategy", "A portfolio gives more executions to strategies that show new behaviours."),
	].filter(c => c.lines.length).map(c => c.element));
}

function showTables(campaigns, all) {
	const parts = [], total = {};
	for (const c of campaigns)
		for (const [name, counts] of Object.entries(last(c.samples)?.by ?? {}))
			counts.forEach((v, i) => (total[name] ??= [0, 0, 0])[i] = (total[name][i] ?? 0) + v);
	const kinds = name => [...new Set(all.findings.filter(f => f.strategy === name).map(f => f.kind))].join(", ");
	if (Object.keys(total).length)
		parts.push(make("h2", {}, "Strategies"), table(
			[["strategy"], ["executions", 1], ["new behaviours", 1], ["findings", 1], ["failures found first"]],
			Object.entries(total).map(([name, [executions, fresh, findings]]) =>
				[name, count(executions), count(fresh), count(findings), kinds(name)])));
	const preempted = [];
	for (const c of campaigns)
		(last(c.samples)?.preemptions ?? []).forEach((v, i) => preempted[i] = (preempted[i] ?? 0) + v);
	if (preempted.some(v => v))
		parts.push(make("h2", {}, "Executions by their number of preemptions"), table(
			preempted.map((v, i) => [i === preempted.length - 1 ? i + " or more" : String(i), 1]), [preempted.map(count)]));
	const spent = {};
	for (const c of campaigns)
		for (const [name, v] of Object.entries(last(c.samples)?.spent ?? {}))
			spent[name] = (spent[name] ?? 0) + v;
	const { points, questions, ...times } = spent, us = Object.values(times).reduce((sum, v) => sum + v, 0);
	if (us)
		parts.push(make("h2", {}, "Where the time of the executions went"),
			make("p", {}, `${count(points)} points were reached, ${count(questions)} questions asked. From stop to grant: the hops of a question.`),
			table([["part"], ["time", 1], ["share", 1], ["a question, \u00b5s", 1]], Object.entries(times).map(([name, v]) =>
				[name, duration(v / 1000), (100 * v / us).toFixed(1) + " %", HOPS.includes(name) && questions ? (v / questions).toFixed(1) : ""])));
	if (all.findings.length)
		parts.push(make("h2", {}, "Failures, in the order in which they were found"), table(
			[["execution", 1], ["after", 1], ["strategy"], ["kind"], ["message"], ["steps", 1], ["preemptions", 1], ["trace"]],
			all.findings.map(f => [count(f.finding), duration(f.at), f.strategy, f.kind, f.message, count(f.steps),
				count(f.preemptions), make("code", {}, f.trace ?? "not kept")])));
	byId("tables").replaceChildren(...parts.map(p => p.tagName === "TABLE" ? make("div", { class: "scroll" }, p) : p));
}

async function start() {
	const raw = await readData();
	const all = joined(raw.campaigns);
	readTheme();
	showHead(raw, last(raw.campaigns), all);
	if (all.samples.length)
		showCharts(all);
	else
		say("There is no execution yet.");
	showTables(raw.campaigns, all);
	const draw = () => charts.forEach(c => c.draw());
	draw();
	new ResizeObserver(draw).observe(byId("charts"));
	darkQuery.addEventListener("change", () => {
		readTheme();
		draw();
	});
	window.zug = { raw, charts };
	document.documentElement.dataset.ready = "yes";
}

start().catch(e => say("This page cannot show its campaign: " + e.message));
