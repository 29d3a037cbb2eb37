#include "cli/engine.h"

namespace mynah::cli {

void EngineOptions::fields(Fields& fields) {
  fields.section("Model and device");
  fields
      .option("model", "NAME", model,
              "A model that was pulled or imported, a path, or builtin; auto: the newest of those "
              "here.")
      .shorter('m')
      .completes(Complete::Models);
  device_field(fields, wish.device, std::string(kDeviceHelp));
  wish.limits(fields);
  wish.arithmetic(fields);
  fields
      .option("vad-model", "NAME", vad_model,
              "Voice detector: one that was pulled, a path, or builtin; auto: silero, or one that "
              "was imported.")
      .completes(Complete::Models);
  fields.flag("offline", offline, "Never ask the network.");
  fields.flag("yes", yes, "Pull a model that is missing without asking.").shorter('y').once();
}

}  // namespace mynah::cli
