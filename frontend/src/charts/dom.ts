// Build nodes from text, never from markup: names come from people.

type Attributes = Record<string, string>;

export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, attributes: Attributes, ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function svg(tag: string, attributes: Attributes, ...children: Node[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Give a file to the reader. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  el("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
