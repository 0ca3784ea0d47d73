// Bundle the scripts and the style into dist/, and hold the page's budget.
import { context, build, transform } from "esbuild";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { watch } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { compileAsync } from "sass";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = `${here}dist`;
// What the heaviest page loads, compressed: every file of dist/.
const BUDGET_BYTES = 200_000;
const FILES = ["early.js", "app.js", "charts.js", "live_worker.js", "app.css"];
// Pages for readers without a log-in load this one instead of app.js.
const OTHERS = ["share.js", "passkeys.js", "fault.css"];

const scripts = {
  entryPoints: Object.fromEntries(
    Object.entries({ early: "early", app: "app", charts: "charts", share: "share", passkeys: "passkeys", live_worker: "live/shared_worker" }).map(
      ([name, source]) => [name, `${here}src/${source}.ts`],
    ),
  ),
  outdir: dist,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
};

async function buildStyle() {
  const { css } = await compileAsync(`${here}styles/app.scss`, {
    loadPaths: [`${here}node_modules/@tabler/core/scss`, `${here}styles`],
    quietDeps: true,
  });
  const { code } = await transform(css, { loader: "css", minify: true, legalComments: "none" });
  await writeFile(`${dist}/app.css`, code);
  await copyFile(`${here}styles/fault.css`, `${dist}/fault.css`);
}

async function weigh() {
  let total = 0;
  for (const name of FILES) {
    const bytes = gzipSync(await readFile(`${dist}/${name}`), { level: 9 }).length;
    total += bytes;
    console.log(`${name.padEnd(10)} ${(bytes / 1000).toFixed(1).padStart(6)} kB compressed`);
  }
  console.log(`${"total".padEnd(10)} ${(total / 1000).toFixed(1).padStart(6)} kB of ${BUDGET_BYTES / 1000} kB`);
  if (total > BUDGET_BYTES) {
    console.error("The heaviest page is over its budget: import less, or load it on fewer pages.");
    process.exitCode = 1;
  }
}

await mkdir(dist, { recursive: true });
if (process.argv.includes("--watch")) {
  await (await context(scripts)).watch();
  await buildStyle();
  watch(`${here}styles`, () => buildStyle().catch((error) => console.error(error.message)));
} else {
  // What an older version left behind must not be served.
  for (const name of [...FILES, ...OTHERS]) await rm(`${dist}/${name}`, { force: true });
  await Promise.all([build(scripts), buildStyle()]);
  await weigh();
}
