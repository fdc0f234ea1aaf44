// Asks the real OpenClaw whether messages may be sent into sessions, for the tests of `store policy`.
//
//   node send-policy.mjs cases SEED COUNT        random questions, one line of JSON each
//   node send-policy.mjs answers PACKAGE FILE    a letter for each question of a file: `a` for allow, `d` for deny
//
// PACKAGE is the folder of an installed OpenClaw, such as tests/tools/openclaw/node_modules/openclaw.
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [mode, ...given] = process.argv.slice(2);
if (mode === "cases") {
  const random = randomFrom(Number(given[0]));
  for (let at = 0; at < Number(given[1]); at += 1) console.log(JSON.stringify(question(random)));
} else if (mode === "answers") {
  const decide = await resolver(resolve(given[0]));
  const questions = readFileSync(given[1], "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  console.log(questions.map((asked) => decide(asked)[0]).join(""));
} else {
  console.error("usage: send-policy.mjs cases SEED COUNT | answers PACKAGE FILE");
  process.exitCode = 2;
}

/** OpenClaw's own function, under whatever name the release has its file. */
async function resolver(folder) {
  const older = join(folder, "dist/sessions/send-policy.js");
  const newer = () => join(folder, "dist", readdirSync(join(folder, "dist")).find((name) => /^send-policy-.*\.mjs$/.test(name)));
  const exported = await import(pathToFileURL(existsSync(older) ? older : newer()).href);
  const decide = Object.values(exported).find((one) => one.name === "resolveSendPolicy");
  return ({ policy, key, entry }) => decide({ cfg: { session: { sendPolicy: policy } }, sessionKey: key, entry });
}

/** Numbers from 0 to 1 that are the same for the same seed. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function question(random) {
  const one = (list) => list[Math.floor(random() * list.length)];
  const maybe = (chance, value) => (random() < chance ? value() : undefined);
  const channels = ["discord", "slack", "telegram", "whatsapp", "Slack", " discord "];
  const kinds = ["direct", "dm", "group", "channel", " DM", "Group", "room"];
  const key = () => {
    const [channel, kind, id] = [one(channels.slice(0, 5)), one(["direct", "dm", "group", "channel"]), one(["1", "C0ABC", "anna"])];
    const rest = one([
      "main", "cron:nightly:run:1", "subagent:x", "global", `${kind}:${id}`, `group:${id}`,
      `${channel}:${kind}:${id}`, `${channel}:${kind}:${id}`, `${channel}:${kind}:${id}`, `${channel}:${kind}:${id}:thread:7`,
      `${channel}:work:${kind}:${id}`, `${channel}:${one(["dm", "group"])}:${kind}:${id}`, `${channel}:Group:${id}`,
      `${channel}:${kind}:`, "1-2@g.us", "whatsapp:1-2@g.us", "discord:guild-1:channel-2", "discord:me:guild-1:channel-2",
      "agent:coder:slack:dm:u",
    ]);
    return one(["agent:main:", "agent:main:", "agent:main:", "agent:coder:", "Agent:main:", "agent::", ""]) + rest;
  };
  const entry = () => ({
    sendPolicy: maybe(0.15, () => one(["allow", "deny", " Deny", "maybe"])),
    chatType: maybe(0.3, () => one(kinds)),
    channel: maybe(0.25, () => one(channels)),
    lastChannel: maybe(0.25, () => one(channels)),
    delivery: maybe(0.4, () => one([
      { kind: "none" },
      { kind: "internal" },
      { kind: "external", route: {}, context: { channel: one(channels) }, origin: {} },
      { kind: "external", route: {}, context: {}, origin: { provider: one(channels) } },
    ])),
  });
  const prefixes = ["agent:main:", "agent:coder", "slack:", "Slack:channel", "agent:main:discord", "telegram:d", "main", "group:", "cron:"];
  const rule = () => ({
    action: one(["allow", "deny", "deny", " Deny ", "maybe"]),
    match: maybe(0.9, () => ({
      channel: maybe(0.4, () => one(channels)),
      chatType: maybe(0.4, () => one(kinds)),
      keyPrefix: maybe(0.25, () => one(prefixes)),
      rawKeyPrefix: maybe(0.15, () => one(prefixes)),
    })),
  });
  return {
    policy: maybe(0.95, () => ({
      default: maybe(0.6, () => one(["allow", "deny", "Deny"])),
      rules: maybe(0.95, () => Array.from({ length: Math.floor(random() * 4) }, rule)),
    })),
    key: key(),
    entry: maybe(0.8, entry),
  };
}
