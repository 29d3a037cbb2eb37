// What is here: models, and the devices that they compute on.
import { ask, lines } from "./api.js";

const byId = (id) => document.getElementById(id);

function itemOf(...parts) {
  const item = document.createElement("li");
  item.append(...parts);
  return item;
}

function buttonOf(text, act, changed) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", async () => {
    made.disabled = true;
    let wrong = "";
    try {
      await act();
    } catch (error) {
      wrong = error.message;
    }
    await changed();
    byId("told").textContent ||= wrong;
  });
  return made;
}

// What a model is for, by its task.
const DOES = {
  "automatic-speech-recognition": "hears",
  "text-to-speech": "speaks",
  "text-generation": "writes",
  "feature-extraction": "makes vectors",
};

// The models that are here; `changed` is called when one was loaded or let go of.
export async function listModels(changed) {
  const { data } = await (await ask("v1/models")).json();
  byId("models").replaceChildren(
    ...data.map((model) => {
      const item = itemOf(`${model.id} (${DOES[model.task]}) `);
      if (model.id !== "builtin") {
        const path = `v1/models/${encodeURIComponent(model.id)}`;
        item.append(
          buttonOf("Load", () => ask(`${path}/load`, { method: "POST" }), changed),
          " ",
          buttonOf("Let go", () => ask(`${path}/unload`, { method: "POST" }), changed),
        );
      }
      return item;
    }),
  );
}

// Where a part of a model computes, why, and what shows that it does.
function proofOf(stage) {
  const parts = [`${stage.stage}: ${stage.device}, ${stage.why}`];
  if (stage.milliseconds !== null) {
    parts.push(`${stage.operations} operations in ${stage.milliseconds.toFixed(1)} ms`);
  }
  if (stage.kernels > 0) {
    parts.push(`${stage.kernels} kernels`);
  }
  if (stage.worst_error !== null) {
    parts.push(`differs by ${stage.worst_error.toExponential(1)} of ${stage.error_bound?.toExponential(1)} that it may`);
  }
  return parts.join("; ");
}

// What there is to compute on, and where each part of a model that is loaded was put, with the proof.
export async function listDevices() {
  const { devices, placement } = await (await ask("v1/devices")).json();
  byId("devices").replaceChildren(
    ...devices.map((device) => itemOf(device.absent ? `${device.device}: ${device.absent}` : `${device.device}: ${device.model ?? ""}`)),
  );
  byId("places").replaceChildren(...placement.stages.map((stage) => itemOf(proofOf(stage))));
}

// Has models pulled; `changed` is called when one was.
export function startPulling(changed) {
  byId("pull-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const told = byId("pull-told");
    const bar = byId("pulled");
    bar.removeAttribute("value");
    bar.hidden = false;
    try {
      const answer = await ask("v1/models", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ model: byId("pull").value.trim() }),
      });
      for await (const line of lines(answer)) {
        if (line.error) {
          throw new Error(line.error.message);
        }
        told.textContent = line.status;
        if (line.total) {
          bar.max = line.total;
          bar.value = line.completed;
        }
      }
    } catch (error) {
      told.textContent = error.message;
    }
    bar.hidden = true;
    await changed();
  });
}
