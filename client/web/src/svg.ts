// A short way to build drawings.

const svgSpace = 'http://www.w3.org/2000/svg';

/** Makes a part of a drawing. */
export function shape<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>, ...children: Node[]): SVGElementTagNameMap[K] {
  const el = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  el.append(...children);
  return el;
}
