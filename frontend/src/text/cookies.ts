// Cookies that the server sets for the scripts.

/** A cookie's value; empty without it, and in a frame on another site where the browser may forbid them all. */
export function cookie(name: string): string {
  try {
    const found = document.cookie.split("; ").find((each) => each.startsWith(`${name}=`)) ?? "";
    return decodeURIComponent(found.slice(name.length + 1)).replace(/^"|"$/g, "");
  } catch {
    return "";
  }
}
