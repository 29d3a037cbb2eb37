#include "cli/engine.h"
#include "cli/open_placer.h"

namespace mynah::cli {

void EngineOptions::fields(Fields& fields) {
  fields.section("Model and device");
  fields
      .option("model", "NAME", model,
              "A model that was pulled or imported, a path, or builtin; auto: the newest of those "
              "here.")
      .shorter('m')
      .completes(Complete::Models);
  device_field(fields, device, std::string(kDeviceHelp));
  placement_fields(fields, max_vram, keep_alive);
  fields.option("threads", "N", threads, "Threads to compute with; 0: the physical cores.")
      .shorter('t');
  fields.option(
      "storage", "TYPE", storage,
      "Compute with weights as f32, f16, bf16, int8 or a block type such as q8_0; default: int8.");
  fields.choice("precision", "HOW", precision,
                {{"fast", Precision::Fast}, {"exact", Precision::Exact}},
                "Arithmetic: as fast as the weights' type allows, or in f32.");
  fields
      .option("vad-model", "NAME", vad_model,
              "Voice detector: one that was pulled, a path, or builtin; auto: silero, or one that "
              "was imported.")
      .completes(Complete::Models);
  fields.flag("offline", offline, "Never ask the network.");
  fields.flag("yes", yes, "Pull a model that is missing without asking.").shorter('y').once();
}

}  // namespace mynah::cli
