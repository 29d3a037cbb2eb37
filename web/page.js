// The page: what it shows, and what each part of it is started with.
import { ask, asks, useKey } from "./api.js";
import { listChatModels, startChat } from "./chat.js";
import { startHearing } from "./hear.js";
import { listDevices, listModels, startPulling } from "./here.js";
import { startHistory } from "./history.js";
import { listJobs } from "./jobs.js";
import { listVoices, startSpeaking } from "./speak.js";
import { startTalking } from "./talk.js";

const SECTIONS = ["hear", "speak", "chat", "talk", "jobs", "here"];
const byId = (id) => document.getElementById(id);

function show() {
  const wanted = location.hash.slice(1);
  const shown = SECTIONS.includes(wanted) ? wanted : SECTIONS[0];
  for (const name of SECTIONS) {
    byId(name).hidden = name !== shown;
    if (name === shown) {
      byId(`to-${name}`).setAttribute("aria-current", "page");
    } else {
      byId(`to-${name}`).removeAttribute("aria-current");
    }
  }
}

async function list() {
  try {
    await listVoices();
    await listModels(list);
    await listChatModels();
    await listJobs().catch(() => {}); // a key may not have the right
    await listDevices().catch(() => {});
    byId("told").textContent = "";
  } catch (error) {
    byId("told").textContent = error.message;
  }
}

asks.addEventListener("key", () => {
  byId("key-form").hidden = false;
});
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useKey(byId("key").value);
  byId("key-form").hidden = true;
  list();
});
// A link of `mynah serve --lan` has the key behind #, where it reaches no server; nor is it kept in
// the browser's history.
if (location.hash.startsWith("#key=")) {
  useKey(decodeURIComponent(location.hash.slice("#key=".length)));
  history.replaceState(null, "", location.pathname);
}
addEventListener("hashchange", show);
show();
startHearing();
startSpeaking();
startChat();
startTalking();
startPulling(list);
startHistory();
list();
