package main

// What looks at a document, whichever page it is.

// misfits names what does not fit in a document: what has to be scrolled sideways, text
// that is cut or leaves its box, what covers something else, and targets of less than 24
// pixels that are too near to another (WCAG 2.2, 2.5.8: links in a text may be smaller).
const misfits = `d => {
	const width = d.documentElement.clientWidth, found = new Set(), style = e => d.defaultView.getComputedStyle(e);
	const title = d.querySelector('h1')?.textContent ?? 'no heading';
	const fault = (what, e) => found.add(title + ': ' + what + ': ' + e.outerHTML.slice(0, 160));
	const isClipped = e => e !== null && (style(e).clipPath !== 'none' || isClipped(e.parentElement));
	const isSeen = e => e.checkVisibility() && !isClipped(e);
	if (d.documentElement.scrollWidth > width) fault('the page is ' + d.documentElement.scrollWidth + ' px wide', d.body);

	const lines = [], texts = d.createTreeWalker(d.body, NodeFilter.SHOW_TEXT);
	for (let text; (text = texts.nextNode()) !== null;) {
		const e = text.parentElement;
		if (text.data.trim() === '' || e.closest('svg, script, style, noscript') || !isSeen(e)) continue;
		const range = d.createRange();
		range.selectNodeContents(text);
		for (const box of range.getClientRects()) if (box.width > 1) lines.push({e, box});
	}
	const hasEdge = s => s.display !== 'inline' && s.display !== 'contents' &&
		(s.overflowX !== 'visible' || parseFloat(s.borderInlineStartWidth) > 0 || !/^rgba\(.*, 0\)$|^transparent$/.test(s.backgroundColor));
	const edges = new Map();
	for (const {e, box} of lines) {
		for (let a = e; a !== null && a !== d.documentElement; a = a.parentElement) {
			if (!edges.has(a)) edges.set(a, hasEdge(style(a)) ? a.getBoundingClientRect() : null);
			const edge = edges.get(a);
			if (edge && (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 3 || box.bottom > edge.bottom + 3)) fault('text leaves', a);
		}
	}
	for (const e of d.querySelectorAll('body *:not(svg, svg *, input:not([type^=date]))')) {
		if (e.checkVisibility() && (style(e).overflowX !== 'visible' || e.matches('input')) && !isClipped(e) && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)) fault('cut', e);
	}

	const targets = [...d.querySelectorAll('a[href], button, input:not([type=hidden]), summary, select, textarea')].filter(isSeen);
	const things = [...lines, ...[...targets, ...d.querySelectorAll('img, main svg')].filter(isSeen).flatMap(e => [...e.getClientRects()].map(box => ({e, box})))];
	things.forEach((a, i) => {
		if (a.box.right > width + 1 || a.box.left < -1) fault('outside of the window', a.e);
		for (const b of things.slice(i + 1)) {
			const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
			if (x > 2 && y > 6 && !a.e.contains(b.e) && !b.e.contains(a.e)) fault('covers ' + b.e.outerHTML.slice(0, 80), a.e);
		}
	});

	const boxOf = e => [e, ...(e.labels ?? [])].map(part => part.getBoundingClientRect()).reduce((a, b) => new DOMRect(
		Math.min(a.left, b.left), Math.min(a.top, b.top), Math.max(a.right, b.right) - Math.min(a.left, b.left), Math.max(a.bottom, b.bottom) - Math.min(a.top, b.top)));
	const isInText = e => style(e).display === 'inline' && [...e.closest('p, li, div, section').childNodes].some(n => n !== e && n.nodeType === Node.TEXT_NODE && n.data.trim() !== '');
	for (const e of targets) {
		const box = boxOf(e), x = box.left + box.width / 2, y = box.top + box.height / 2;
		if (box.width >= 23.9 && box.height >= 23.9 || isInText(e)) continue;
		for (const other of targets) {
			const o = boxOf(other), dx = Math.max(o.left - x, 0, x - o.right), dy = Math.max(o.top - y, 0, y - o.bottom);
			if (other !== e && Math.hypot(dx, dy) < 12) fault('a target of ' + box.width + ' by ' + box.height, e);
		}
	}
	return [...found];
}`

// edgeless names what can be pressed or typed into and has neither an edge nor an
// underline where a browser chooses the colours: there no background tells it apart.
const edgeless = `d => {
	const found = [];
	for (const e of d.querySelectorAll('a[href], button, input:not([type=hidden], [type=checkbox], [type=radio]), summary')) {
		const s = d.defaultView.getComputedStyle(e);
		if (e.checkVisibility() && !(parseFloat(s.borderTopWidth) > 0 && s.borderTopStyle !== 'none') && s.textDecorationLine !== 'underline') found.push('no edge: ' + e.outerHTML.slice(0, 160));
	}
	return found;
}`

// follow begins to note what gets the focus, and returns how many stops there are. Before
// the first, nothing has it.
const follow = `(() => {
	window.stops = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), summary, select, textarea')].filter(e => !e.disabled && e.checkVisibility());
	window.visited = [];
	document.addEventListener('focusin', ({target: e}) => {
		if (visited.at(-1)?.e === e) return;
		const s = getComputedStyle(e);
		e.scrollIntoView({block: 'nearest'});
		const box = e.getClientRects()[0], top = box && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
		visited.push({e, isSeen: e.matches(':focus-visible') && s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2, isFree: !!top && (e.contains(top) || top.contains(e))});
	});
	document.body.tabIndex = -1;
	document.body.focus();
	document.body.removeAttribute('tabindex');
	window.visited = [];
	return stops.length;
})()`

// followed names the stops that Tab missed, reached out of order, or where the focus is
// not seen.
const followed = `(() => {
	const found = [], order = visited.slice(0, stops.length);
	stops.forEach((e, i) => {
		const name = e.outerHTML.slice(0, 160);
		if (order[i]?.e !== e) found.push('stop ' + i + ' is ' + (order[i]?.e.outerHTML.slice(0, 80) ?? 'missing') + ', not ' + name);
		else if (!order[i].isSeen) found.push('no focus to be seen on ' + name);
		else if (!order[i].isFree) found.push('something covers ' + name);
	});
	return found;
})()`
