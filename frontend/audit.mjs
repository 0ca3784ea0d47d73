// Known faults of the packages in package-lock.json, by `npm audit`; those accepted are in package.json, each with its reason.
// Run by `npm run audit`.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const accepted = JSON.parse(readFileSync("package.json", "utf8")).acceptedFaults;
// Else npm asks a registry that doesn't answer for minutes.
const words = ["audit", "--json", "--package-lock-only", "--fetch-retries=0", "--fetch-timeout=20000"];
const { stdout, stderr } = spawnSync(process.execPath, [process.env.npm_execpath, ...words], { encoding: "utf8" });
const answer = JSON.parse(stdout || "{}");
if (!answer.vulnerabilities) {
  console.log(`no answer from npm's advisories: ${answer.message ?? stderr.trim().split("\n").at(-1)}`);
  process.exit(1);
}
// A text in `via` names the package that this one is touched through, which has an entry of its own.
const faults = Object.entries(answer.vulnerabilities)
  .flatMap(([name, report]) => report.via.map((fault) => ({ name, ...fault })))
  .filter((fault) => fault.url && !(fault.url.split("/").at(-1) in accepted));
faults.forEach(({ name, url, title }) => console.log(`package-lock.json: ${name} has a known fault: ${title}, ${url}`));
process.exit(faults.length ? 1 : 0);
