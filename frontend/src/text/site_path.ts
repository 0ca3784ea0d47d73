/** Return an address of this site, such as /runs/3, as it is asked for: the site may have only a path of its host. */
export function sitePath(path: string): string {
  return (globalThis.document?.documentElement.dataset["base"] ?? "") + path;
}
