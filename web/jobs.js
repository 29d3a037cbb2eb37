// Recordings that are heard while nobody waits: they go on when the page is closed.
import { ask } from "./api.js";

const byId = (id) => document.getElementById(id);
const UNDER_WAY = ["queued", "running"];
const LOOK_AGAIN_MS = 2000;
const MOST_TEXTS = 20;

// Names are known to this browser alone: the server tells nobody what a file was called.
const NAMES = "mynah-jobs";
const names = () => JSON.parse(localStorage.getItem(NAMES) ?? "{}");

function keepName(id, name) {
  const kept = names();
  if (name === null) {
    delete kept[id];
  } else {
    kept[id] = name;
  }
  localStorage.setItem(NAMES, JSON.stringify(kept));
}

export async function hearAsJob(file, language) {
  const form = new FormData();
  if (language) {
    form.set("language", language);
  }
  form.set("file", file);
  const job = await (await ask("v1/jobs", { method: "POST", body: form })).json();
  keepName(job.id, file.name);
  await listJobs();
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", async () => {
    made.disabled = true;
    try {
      await act();
    } catch (error) {
      byId("told").textContent = error.message;
    }
    await listJobs();
  });
  return made;
}

async function keep(job, name, format) {
  const answer = await ask(`v1/jobs/${job.id}/result?format=${format}`);
  const link = document.createElement("a");
  link.download = `${name.replace(/\.[^.]*$/, "")}.${format === "text" ? "txt" : format}`;
  link.href = URL.createObjectURL(await answer.blob());
  link.click();
  URL.revokeObjectURL(link.href);
}

function stateOf(job) {
  const { heard_s: heard, length_s: length } = job.progress;
  if (job.state === "running") {
    return `heard ${heard.toFixed(0)} of ${length?.toFixed(0) ?? "?"} s`;
  }
  return job.error?.message ?? (job.device ? `${job.state}: ${job.model}, ${job.device}` : job.state);
}

function show(job) {
  const item = byId("job").content.firstElementChild.cloneNode(true);
  const name = names()[job.id] ?? new Date(job.created_at * 1000).toLocaleString();
  item.querySelector("h3").textContent = name;
  item.querySelector(".text").textContent = job.text ?? "";
  item.querySelector(".state").textContent = stateOf(job);
  item.querySelector(".state").classList.toggle("wrong", job.state === "failed");
  const bar = item.querySelector("progress");
  bar.hidden = job.state !== "running";
  if (job.progress.length_s) {
    bar.max = job.progress.length_s;
    bar.value = job.progress.heard_s;
  }
  const row = item.querySelector(".row");
  if (job.state === "done") {
    row.append(...["text", "srt", "vtt"].map((format) => button(format === "text" ? "txt" : format, () => keep(job, name, format))));
  }
  if (UNDER_WAY.includes(job.state)) {
    row.append(button("Stop", () => ask(`v1/jobs/${job.id}/cancel`, { method: "POST" })));
  } else {
    row.append(
      button("Remove", async () => {
        await ask(`v1/jobs/${job.id}`, { method: "DELETE" });
        keepName(job.id, null);
      }),
    );
  }
  return item;
}

let waiting = null;

// The jobs as they are now, and again as long as one is under way.
export async function listJobs() {
  clearTimeout(waiting);
  const { data } = await (await ask("v1/jobs")).json();
  // The list has no texts: those of the newest are asked for.
  const newest = data.slice(0, MOST_TEXTS).map(async ({ id }) => (await ask(`v1/jobs/${id}`)).json());
  byId("job-list").replaceChildren(...[...(await Promise.all(newest)), ...data.slice(MOST_TEXTS)].map(show));
  byId("no-jobs").hidden = data.length > 0;
  if (data.some((job) => UNDER_WAY.includes(job.state)) && !byId("jobs").hidden) {
    waiting = setTimeout(() => listJobs().catch(() => {}), LOOK_AGAIN_MS);
  }
}
