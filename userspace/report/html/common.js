/* common.js - what both pages need: the data, elements, colours */

const byId = id => document.getElementById(id);

/* make("p", { class: "dim" }, "text", child...). Everything that comes from the data must be passed as text. */
function make(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		if (name.startsWith("on"))
			e.addEventListener(name.slice(2), value);
		else if (value !== undefined)
			e.setAttribute(name, value);
	e.append(...children.filter(c => c !== null && c !== undefined && c !== ""));
	return e;
}

function say(text) {
	byId("notice").textContent = text;
	byId("notice").hidden = false;
}

/* The data is JSON, compressed by zlib, in base64. */
async function readData() {
	const text = atob(byId("data").textContent.replace(/\s+/g, ""));
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = text.charCodeAt(i);
	byId("data").remove();
	if (!window.DecompressionStream)
		throw new Error("this browser is too old (it needs Chrome 80, Firefox 113, Safari 16.4 or later)");
	return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

const theme = {};
const darkQuery = matchMedia("(prefers-color-scheme: dark)");

function readTheme() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["back", "panel", "edge", "text", "dim", "faint", "alarm", "good", "accent", "acquire", "release",
			    "data", "task", "syscall", "other", "run", "wait", "wait-text", "band", "turn", "match",
			    "box-text", "box-text-light"])
		theme[name] = style.getPropertyValue("--" + name).trim();
}

/* Sizes the canvas for the screen's pixels; returns its context, in CSS pixels. */
function fitCanvas(canvas) {
	const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	const c = canvas.getContext("2d");
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	return c;
}

/* The first index of a sorted array whose element is >= value. */
function lowerBound(array, value) {
	let low = 0, high = array.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (array[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const count = n => n.toLocaleString("en").replaceAll(",", "\u202f");
const plural = (n, word, end = "s") => `${count(n)} ${word}${n === 1 ? "" : end}`;

/* The smallest 1, 2 or 5 times a power of ten that is at least that much. */
function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
	return [1, 2, 5, 10].map(f => f * power).find(v => v >= least - 1e-12);
}
