"use strict";
// What the scripts of pages share: elements of HTML and of drawings.
const $ = id => document.getElementById(id);

function make(name, attributes, ...children) {
  return built(document.createElement(name), attributes, children);
}

function draw(name, attributes, ...children) {
  return built(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function built(e, attributes, children) {
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// figure is one figure of a list of class big: its value, and what it is.
const figure = (label, value, kind) => make("li", { class: kind || "" }, make("strong", {}, value), " " + label);

