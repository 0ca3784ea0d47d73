import assert from "node:assert/strict";
import { test } from "node:test";

import { meant } from "../../src/tables/long_lists";

const HOSTS = ["any host", "node-1", "node-10", "node-11", "relay"];

test("a whole name is meant even where it is the beginning of others", () => {
  assert.equal(meant("node-1", HOSTS), 1);
  assert.equal(meant(" NODE-10 ", HOSTS), 2);
});

test("a part that only one name has is enough", () => {
  assert.equal(meant("lay", HOSTS), 4);
});

test("nothing typed means any, and what several or none have means nothing", () => {
  assert.equal(meant("", HOSTS), 0);
  assert.equal(meant("node", HOSTS), -1);
  assert.equal(meant("no-such-host", HOSTS), -1);
});
