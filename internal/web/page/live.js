// Asks for this page's own address every two seconds and patches what changed
// into place, so that nothing flickers and a selection stays.
"use strict";

const every = 2000;
const live = document.getElementById("live");
const stale = document.getElementById("stale");
const since = document.getElementById("stale-since");
const search = document.getElementById("q");
let timer = 0;
let asking = 0;

async function refresh() {
  clearTimeout(timer);
  const mine = ++asking;
  const url = new URL(location.href);
  url.searchParams.set("part", "live");
  try {
    const answer = await fetch(url, { cache: "no-store", signal: AbortSignal.timeout(10000) });
    if (!answer.ok) throw new Error(answer.statusText);
    const text = await answer.text();
    if (mine !== asking) return; // a newer question is under way
    const next = new DOMParser().parseFromString(text, "text/html").getElementById("live");
    if (!next) throw new Error("not the page");
    patch(live, next);
    document.title = live.dataset.title;
    stale.hidden = true;
  } catch (e) {
    if (mine !== asking) return;
    const clock = live.querySelector(".clock time");
    since.textContent = clock ? clock.title : "earlier";
    stale.hidden = false;
  }
  if (!document.hidden) timer = setTimeout(refresh, every);
}

// patch makes old look like next, keeping every node that can stay.
function patch(old, next) {
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const keyed = new Map();
  for (const child of old.children) {
    if (child.dataset.key) keyed.set(child.dataset.key, child);
  }
  let here = old.firstChild;
  for (const wanted of [...next.childNodes]) {
    const key = wanted.dataset?.key;
    let match = key ? keyed.get(key) : here;
    if (!match || match.nodeName !== wanted.nodeName || (match.dataset?.key ?? undefined) !== key) {
      match = document.importNode(wanted, true);
      old.insertBefore(match, here);
      continue;
    }
    if (match === here) here = here.nextSibling;
    else old.insertBefore(match, here);
    if (wanted.nodeType === Node.ELEMENT_NODE) patch(match, wanted);
    else if (match.nodeValue !== wanted.nodeValue) match.nodeValue = wanted.nodeValue;
  }
  while (here) {
    const gone = here;
    here = here.nextSibling;
    gone.remove();
  }
}

if (search) {
  search.form.addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", () => {
    const url = new URL(location.href);
    if (search.value) url.searchParams.set("q", search.value);
    else url.searchParams.delete("q");
    url.searchParams.delete("source");
    history.replaceState(null, "", url);
    refresh();
  });
}
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});
timer = setTimeout(refresh, every);
