/** Creates an element of SVG with its attributes, at the end of a parent. */
export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | number>> = {},
  parent?: Element,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  set(element, attributes);
  parent?.append(element);
  return element;
}

export function set(element: Element, attributes: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/** The letter of a process. */
export function letterOf(process: number): string {
  return String.fromCharCode(65 + process);
}
