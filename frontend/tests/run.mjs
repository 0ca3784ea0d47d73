// Bundle the unit tests with esbuild and hand them to node's own runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = mkdtempSync(`${tmpdir()}/benchweb-frontend-`);
const tests = readdirSync(here, { recursive: true }).filter((name) => name.endsWith(".test.ts"));
await build({ entryPoints: tests.map((name) => `${here}${name}`), outdir: folder, outbase: here, bundle: true, platform: "node", format: "esm", outExtension: { ".js": ".mjs" } });
const { status } = spawnSync(process.execPath, ["--test", ...tests.map((name) => `${folder}/${name.replace(".ts", ".mjs")}`)], { stdio: "inherit" });
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
