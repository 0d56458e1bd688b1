// Draws the damage map of each capture on the page, from the data beside it, and leads from the map to the findings and back.
// Without this script, the page is lists and tables.
"use strict";
(() => {
	const CLASSES = {
		check: [["note", "note"], ["warning", "warning"], ["error", "error"]],
		repair: [["changed", "changed"], ["dropped", "dropped"], ["doubtful", "doubtful"], ["made", "made anew"]],
	};
	// From the top of a column to its bottom.
	const ORDER = { check: [2, 1, 0], repair: [1, 2, 0, 3] };
	const SEVERITY = ["note", "warning", "error"];
	const GAPS = [["warning", "lost by the recorder"], ["error", "damage"], ["dropped", "dropped by the repair"]];
	const LINES_FIRST = 12;
	const redraws = [];

	function make(tag, className, text) {
		const e = document.createElement(tag);
		if (className) e.className = className;
		if (text !== undefined) e.textContent = text;
		return e;
	}
	function button(label, text, act) {
		const b = make("button", "", text);
		b.type = "button";
		b.setAttribute("aria-label", label);
		b.title = label;
		b.addEventListener("click", act);
		return b;
	}
	const number = (n) => n.toString().replace(/\B(?=(\d{3})+$)/g, ",");
	const hex = (n) => "0x" + n.toString(16);
	const count = (n, noun) => number(n) + " " + noun + (n === 1 ? "" : "s");

	// ---- colours and patterns ----

	let colours = {}, tiles = {};
	function readColours() {
		const style = getComputedStyle(document.documentElement);
		colours = {};
		tiles = {};
		for (const name of ["paper", "ink", "soft", "line", "sound", "error", "warning", "note", "changed", "dropped", "doubtful", "made", "mark", "bar", "focus"])
			colours[name] = style.getPropertyValue("--" + name).trim();
	}
	// The pattern of a class: hatched, dotted, lines or crosses, in the colour of the class.
	function pattern(context, name) {
		if (tiles[name]) return context.createPattern(tiles[name], "repeat");
		const tile = document.createElement("canvas"), c = tile.getContext("2d");
		tile.width = tile.height = 6;
		c.fillStyle = colours[name];
		c.fillRect(0, 0, 6, 6);
		c.strokeStyle = c.fillStyle = colours.mark;
		c.lineWidth = 1.2;
		c.beginPath();
		if (name === "error" || name === "dropped") {
			c.moveTo(-1, 7); c.lineTo(7, -1);
			c.moveTo(-1, 1); c.lineTo(1, -1);
			c.moveTo(5, 7); c.lineTo(7, 5);
		} else if (name === "warning" || name === "doubtful") {
			c.fillRect(1, 1, 1.6, 1.6);
			c.fillRect(4, 4, 1.6, 1.6);
		} else if (name === "note") {
			c.moveTo(0, 3); c.lineTo(6, 3);
		} else if (name === "changed") {
			c.moveTo(3, 0); c.lineTo(3, 6);
		} else if (name === "made") {
			c.moveTo(3, 0.5); c.lineTo(3, 5.5); c.moveTo(0.5, 3); c.lineTo(5.5, 3);
		}
		c.stroke();
		tiles[name] = tile;
		return context.createPattern(tile, "repeat");
	}
	// A context in CSS pixels, emptied.
	function begin(canvas) {
		const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
		const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
		canvas.width = width * ratio;
		canvas.height = height * ratio;
		const context = canvas.getContext("2d");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		return { context, width, height };
	}

	// ---- bytes ----

	// Sums of a strip's runs [first bin, bins, values...] between two offsets.
	function sums(strip, from, to, kinds) {
		const result = new Array(kinds).fill(0);
		let low = 0, high = strip.bins.length;
		while (low < high) {
			const middle = (low + high) >> 1, run = strip.bins[middle];
			if ((run[0] + run[1]) * strip.width <= from) low = middle + 1;
			else high = middle;
		}
		for (; low < strip.bins.length && strip.bins[low][0] * strip.width < to; low++)
			for (let k = 0; k < kinds; k++) result[k] = Math.max(result[k], strip.bins[low][2 + k]);
		return result;
	}
	// The marks of a strip that touch a range.
	const touching = (map, strip, from, to) =>
		map.marks.filter((m) => m[0] === strip.index && m[1] < to && m[1] + Math.max(1, m[2]) > from);

	function drawStrip(map, strip, canvas, from, to, marks) {
		const { context, width, height } = begin(canvas);
		const kinds = CLASSES[map.mode], top = marks ? 9 : 0, room = height - top;
		context.fillStyle = colours.sound;
		context.fillRect(0, top, width, room);
		let start = 0, last = "";
		const column = (x0, x1, key) => {
			if (!key) return;
			const present = key.split(",").map(Number), part = room / present.length;
			present.forEach((k, i) => {
				context.fillStyle = pattern(context, kinds[k][0]);
				context.fillRect(x0, top + i * part, Math.max(2, x1 - x0), part);
			});
		};
		for (let x = 0; x <= width; x++) {
			let key = "";
			if (x < width && strip.size) {
				const values = sums(strip, from + (to - from) * x / width, from + (to - from) * (x + 1) / width, kinds.length);
				key = ORDER[map.mode].filter((k) => values[k]).join();
			}
			if (x === width || key !== last) {
				column(start, x, last);
				start = x;
				last = key;
			}
		}
		if (!marks) return;
		for (const m of touching(map, strip, from, to)) {
			const x = Math.min(width - 2, Math.max(0, (m[1] - from) / (to - from) * width));
			const end = Math.min(width, (m[1] + m[2] - from) / (to - from) * width);
			context.fillStyle = colours[SEVERITY[m[3]]];
			context.fillRect(x, 0, Math.max(2, end - x), 3);
			context.beginPath();
			context.moveTo(x - 3, 3);
			context.lineTo(x + 5, 3);
			context.lineTo(x + 1, 8);
			context.fill();
		}
	}

	function tell(map, strip, from, to) {
		const kinds = CLASSES[map.mode], values = sums(strip, from, to, kinds.length);
		const parts = ORDER[map.mode].filter((k) => values[k]).map((k) => "up to " +
			(map.mode === "check" ? count(values[k], kinds[k][1]) : count(values[k], "byte") + " " + kinds[k][1]) + " a bin");
		return parts.length ? parts.join(", ") : map.mode === "check" ? "nothing found" : "kept";
	}

	function buildMap(section) {
		const ordinal = section.dataset.map, map = JSON.parse(document.getElementById("d" + ordinal).textContent);
		if (!map.strips.length) return;
		const finding = (m) => document.getElementById("f" + ordinal + "-" + m[4]);
		const rows = [];
		let chosen = map.strips.find((s) => s.bins.length) || map.strips[0], from = 0, to = chosen.size || 1;
		section.classList.toggle("one", map.strips.length === 1);
		section.append(make("h3", "", map.mode === "check" ? "Where the findings are" : "What the repair does with the bytes"));

		for (const strip of map.strips) {
			const row = make("div", "row"), canvas = make("canvas", "whole");
			canvas.tabIndex = 0;
			canvas.setAttribute("role", "button");
			canvas.setAttribute("aria-label", (strip.name || "the whole capture") + ", " + count(strip.size, "byte") + ": " +
				tell(map, strip, 0, strip.size) + ". Enter shows it below.");
			const choose = (x) => {
				const box = canvas.getBoundingClientRect();
				const span = chosen === strip ? to - from : strip.size;
				select(strip);
				if (x !== undefined && span < strip.size) view(strip.size * (x - box.left) / box.width - span / 2, span);
			};
			canvas.addEventListener("click", (e) => choose(e.clientX));
			canvas.addEventListener("keydown", (e) => {
				if (e.key !== "Enter" && e.key !== " ") return;
				e.preventDefault();
				choose();
				part.focus();
			});
			const name = make("span", "name", strip.name || "the capture");
			name.title = strip.name;
			row.append(name, canvas, make("span", "sum", count(strip.size, "byte")));
			section.append(row);
			rows.push({ strip, row, canvas });
		}

		const zoom = make("div", "zoom"), tools = make("div", "tools"), where = make("span", "where"), part = make("canvas", "part");
		const ruler = make("div", "ruler"), say = make("p", "say"), bytes = make("div", "bytes");
		say.setAttribute("aria-live", "polite");
		part.tabIndex = 0;
		part.setAttribute("role", "application");
		part.setAttribute("aria-label", "Part of the capture. Arrows move, plus and minus zoom, N and P go to the next and the previous " +
			"listed finding, Enter opens it, Home shows the whole.");
		const step = (n) => () => view(from + n * (to - from) / 2, to - from);
		const scale = (n) => () => view((from + to) / 2 - (to - from) * n / 2, (to - from) * n);
		const whole = () => view(0, chosen.size);
		let current = null;
		const go = (n) => () => {
			const all = map.marks.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[4] - b[4]);
			if (!all.length) return;
			let at = all.indexOf(current);
			if (at < 0) at = n > 0 ? all.findIndex((m) => m[0] === chosen.index && m[1] >= from) - 1 : 0;
			show(all[(at + n + all.length) % all.length]);
		};
		tools.append(button("Zoom out", "−", scale(2)), button("Zoom in", "+", scale(.5)), button("Move left", "←", step(-1)),
			button("Move right", "→", step(1)), button("Show the whole file", "Whole", whole));
		if (map.marks.length)
			tools.append(button("Previous listed finding", "‹ Finding", go(-1)), button("Next listed finding", "Finding ›", go(1)));
		tools.append(where);
		zoom.append(tools, part, ruler, say, bytes);
		const legend = make("ul", "tally legend");
		for (const [name, text] of [["sound", map.mode === "check" ? "nothing found" : "kept"], ...CLASSES[map.mode]]) {
			const item = make("li"), key = make("i", "key " + name);
			key.setAttribute("aria-hidden", "true");
			item.append(key, text);
			legend.append(item);
		}
		section.append(zoom, legend);
		section.append(make("p", "facts", "Each file is divided into " + number(Math.max(...map.strips.map((s) => s.count), 1)) +
			" bins or fewer. Triangles are findings that are listed below with their bytes; what is in a bin and not listed has no bytes on this page."));

		function describe(text, mark) {
			say.textContent = text;
			bytes.textContent = "";
			if (!mark) return;
			const open = button("Go to the finding in the list", "Finding in the list", () => reveal(mark));
			say.append(open);
			const rows = finding(mark) && finding(mark).querySelector("pre");
			if (rows) bytes.append(rows.cloneNode(true));
		}
		function reveal(mark) {
			const e = finding(mark);
			if (!e) return;
			const group = e.closest("section.rule");
			if (group.hidden) section.closest(".capture").querySelector(".filter button").click();
			document.querySelectorAll(".finding.target").forEach((other) => other.classList.remove("target"));
			e.classList.add("target");
			e.open = true;
			e.scrollIntoView({ block: "center" });
			e.querySelector("summary").focus({ preventScroll: true });
		}
		// A listed finding on the map, with its bytes.
		function show(mark) {
			const strip = map.strips.find((s) => s.index === mark[0]);
			if (!strip) return;
			select(strip);
			const span = Math.min(strip.size, Math.max(256, 4 * Math.min(mark[2], 65536)));
			view(mark[1] - span / 3, span);
			current = mark;
			const e = finding(mark);
			describe(hex(mark[1]) + ", " + SEVERITY[mark[3]] + ": " + (e ? e.querySelector(".what").textContent : ""), mark);
		}
		function select(strip) {
			if (chosen !== strip) {
				chosen = strip;
				from = 0;
				to = strip.size || 1;
			}
			draw();
		}
		function view(start, span) {
			span = Math.round(Math.min(chosen.size || 1, Math.max(64, span)));
			from = Math.round(Math.min(Math.max(0, start), Math.max(0, chosen.size - span)));
			to = from + span;
			current = null;
			draw();
			describe(tell(map, chosen, from, to), null);
		}
		function draw() {
			for (const r of rows) {
				drawStrip(map, r.strip, r.canvas, 0, r.strip.size || 1, false);
				r.row.classList.toggle("chosen", r.strip === chosen);
				if (r.strip !== chosen || to - from >= chosen.size) continue;
				const box = r.canvas.getBoundingClientRect(), context = r.canvas.getContext("2d");
				const x = from / chosen.size * box.width, w = Math.max(3, (to - from) / chosen.size * box.width);
				context.strokeStyle = colours.ink;
				context.lineWidth = 2;
				context.strokeRect(Math.min(x + 1, box.width - 4), 1, Math.max(2, w - 2), box.height - 2);
			}
			drawStrip(map, chosen, part, from, to, true);
			where.textContent = (chosen.name ? chosen.name + " · " : "") + hex(from) + "–" + hex(to) + " · " + count(to - from, "byte");
			ruler.textContent = "";
			for (let i = 0; i <= 4; i++) ruler.append(make("span", "", hex(Math.round(from + (to - from) * i / 4))));
		}
		// The mark at a place of the zoomed part, or what the bin there has.
		function at(x) {
			const box = part.getBoundingClientRect(), a = from + (x - 4) / box.width * (to - from), b = from + (x + 4) / box.width * (to - from);
			const near = touching(map, chosen, a, b);
			const middle = (a + b) / 2;
			near.sort((p, q) => q[3] - p[3] || Math.abs(p[1] - middle) - Math.abs(q[1] - middle));
			return { mark: near[0], a, b };
		}
		part.addEventListener("click", (e) => {
			if (moved) return;
			const { mark, a, b } = at(e.clientX - part.getBoundingClientRect().left);
			if (mark) {
				current = mark;
				describe(hex(mark[1]) + ", " + SEVERITY[mark[3]] + ": " + finding(mark).querySelector(".what").textContent, mark);
			} else {
				describe(hex(Math.round((a + b) / 2)) + ": " + tell(map, chosen, Math.max(0, a), b), null);
			}
		});
		let drag = null, moved = false;
		part.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, from }; moved = false; });
		part.addEventListener("pointermove", (e) => {
			if (!drag || !e.buttons) return;
			if (Math.abs(e.clientX - drag.x) > 4 && !moved) { moved = true; part.setPointerCapture(e.pointerId); }
			if (moved) view(drag.from - (e.clientX - drag.x) / part.clientWidth * (to - from), to - from);
		});
		part.addEventListener("pointerup", () => { drag = null; });
		part.addEventListener("wheel", (e) => {
			if (!e.ctrlKey && document.activeElement !== part) return; // the page scrolls
			e.preventDefault();
			const box = part.getBoundingClientRect(), share = (e.clientX - box.left) / box.width;
			const middle = from + share * (to - from), span = (to - from) * (e.deltaY > 0 ? 1.25 : .8);
			view(middle - share * span, span);
		}, { passive: false });
		part.addEventListener("keydown", (e) => {
			if (e.ctrlKey || e.metaKey || e.altKey) return;
			const keys = {
				ArrowLeft: step(-.5), ArrowRight: step(.5), "+": scale(.5), "=": scale(.5), "-": scale(2), Home: whole,
				n: go(1), p: go(-1), Enter: () => { if (current) reveal(current); },
			};
			if (!keys[e.key]) return;
			e.preventDefault();
			keys[e.key]();
		});
		for (const m of map.marks) {
			const e = finding(m);
			if (!e) continue;
			const b = make("button", "show", "Show on the map");
			b.type = "button";
			b.addEventListener("click", () => {
				show(m);
				zoom.scrollIntoView({ block: "center" });
				part.focus({ preventScroll: true });
			});
			e.append(b);
		}
		redraws.push(draw);
		draw();
		describe(tell(map, chosen, from, to), null);
		if (map.times) buildTimes(document.querySelector(".times[data-times=\"" + ordinal + "\"] .lines"), map.times);
	}

	// ---- time ----

	function buildTimes(place, times) {
		const first = BigInt(times.first), width = 1n << BigInt(times.shift), rows = [];
		let low = times.bins, high = 0, most = 1;
		for (const track of times.tracks) {
			const counts = new Float64Array(times.bins);
			let at = 0;
			for (const n of track.counts) {
				if (n < 0) { at -= n; continue; }
				counts[at] = n;
				low = Math.min(low, at);
				high = Math.max(high, at);
				most = Math.max(most, n);
				at++;
			}
			track.density = counts;
		}
		const time = (bin) => number(first + BigInt(bin) * width), bins = high - low + 1;
		const drawTrack = (track, canvas) => {
			const { context, width: w, height: h } = begin(canvas);
			context.fillStyle = colours.sound;
			context.globalAlpha = .45;
			context.fillRect(0, 0, w, h);
			context.globalAlpha = 1;
			const x = (bin) => (bin - low) / bins * w;
			context.fillStyle = colours.bar;
			for (let i = low; i <= high; i++) {
				if (!track.density[i]) continue;
				const tall = Math.max(2, h * Math.log1p(track.density[i]) / Math.log1p(most));
				context.fillRect(x(i), h - tall, Math.max(1, x(i + 1) - x(i)), tall);
			}
			for (let i = 0; i < track.flags.length; i += 3)
				GAPS.forEach(([name], k) => {
					if (!(track.flags[i + 2] & 1 << k)) return;
					context.fillStyle = pattern(context, name);
					context.fillRect(x(track.flags[i]), k * 3, Math.max(3, x(track.flags[i] + track.flags[i + 1]) - x(track.flags[i])), name === "warning" ? 6 : 9);
				});
		};
		const missing = (t) => t.lost ? ", " + number(t.lost) + (t.some ? " or more" : "") + " missing" : t.some ? ", some missing" : "";
		const add = (track) => {
			const row = make("div", "row"), canvas = make("canvas"), name = make("span", "name", track.name);
			name.title = track.name;
			canvas.setAttribute("role", "img");
			canvas.setAttribute("aria-label", track.name + ": " + count(track.total, "record") + missing(track) + ", " + count(track.gaps, "gap"));
			row.append(name, canvas, make("span", "sum", count(track.total, "record") + missing(track)));
			place.insertBefore(row, ruler);
			rows.push(() => drawTrack(track, canvas));
		};
		const ruler = make("div", "ruler");
		ruler.append(make("span", "", time(low)), make("span", "", time(low + Math.floor(bins / 2))), make("span", "", time(high + 1) + " " + times.unit));
		place.append(ruler);
		times.tracks.slice(0, LINES_FIRST).forEach(add);
		const used = GAPS.filter((g, k) => times.tracks.some((t) => t.flags.some((f, i) => i % 3 === 2 && f & 1 << k)));
		if (used.length) {
			const legend = make("ul", "tally legend");
			for (const [name, text] of used) {
				const item = make("li"), key = make("i", "key " + name);
				key.setAttribute("aria-hidden", "true");
				item.append(key, "gap: " + text);
				legend.append(item);
			}
			place.append(legend);
		}
		if (times.tracks.length > LINES_FIRST) {
			const more = button("All " + number(times.tracks.length) + " tracks: show their lines", "All " + number(times.tracks.length) + " tracks", () => {
				times.tracks.slice(LINES_FIRST).forEach(add);
				more.remove();
				rows.forEach((draw) => draw());
			});
			place.append(more);
		}
		const draw = () => rows.forEach((r) => r());
		redraws.push(draw);
		draw();
	}

	// ---- the list ----

	function buildFilter(place) {
		const groups = [...place.parentElement.querySelectorAll("section.rule")];
		const present = ["error", "warning", "note"].filter((s) => groups.some((g) => g.dataset.severity === s));
		if (present.length < 2) return;
		const buttons = [];
		const choose = (chosen) => {
			for (const g of groups) g.hidden = chosen !== "all" && g.dataset.severity !== chosen;
			for (const [name, b] of buttons) b.setAttribute("aria-pressed", name === chosen ? "true" : "false");
		};
		place.setAttribute("role", "group");
		place.setAttribute("aria-label", "Severity");
		for (const name of ["all", ...present]) {
			const b = make("button"), rules = groups.filter((g) => name === "all" || g.dataset.severity === name).length;
			b.type = "button";
			if (name !== "all") {
				const key = make("i", "key " + name);
				key.setAttribute("aria-hidden", "true");
				b.append(key);
			}
			b.append((name === "all" ? "All" : name[0].toUpperCase() + name.slice(1) + "s") + ", " + count(rules, "rule"));
			b.addEventListener("click", () => choose(name));
			buttons.push([name, b]);
			place.append(b);
		}
		choose("all");
	}

	readColours();
	document.querySelectorAll("section.map").forEach(buildMap);
	document.querySelectorAll(".filter").forEach(buildFilter);
	const redraw = () => {
		readColours();
		redraws.forEach((draw) => draw());
	};
	let waiting = 0;
	window.addEventListener("resize", () => {
		cancelAnimationFrame(waiting);
		waiting = requestAnimationFrame(redraw);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
	matchMedia("print").addEventListener("change", redraw); // paper is white, also for who reads in the dark
	window.addEventListener("beforeprint", redraw);
})();
