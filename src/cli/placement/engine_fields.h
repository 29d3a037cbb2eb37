// Options of what the engine opens: which model, and where it computes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command/fields.h"
#include "engine/open_placer.h"
#include "engine/recognizer.h"
#include "engine/synthesizer.h"

namespace mynah::cli {

// What `--device` is for in verbs that compute; device_details() has all that it takes.
inline constexpr std::string_view kDeviceHelp =
    "Where to compute: auto, a device, a list such as cuda,cpu, lists for stages, or profile:NAME; "
    "see below.";

// The option --device.
void device_field(Fields& fields, std::string& device, std::string help);

// A paragraph below the options: all that --device takes.
[[nodiscard]] std::string device_details();

// The options --max-vram and --keep-alive.
void limit_fields(Fields& fields, engine::PlacementWish& wish);

// The option --gpu-layers.
void layers_field(Fields& fields, engine::PlacementWish& wish);

// The option --threads.
void threads_field(Fields& fields, engine::PlacementWish& wish);

// The options --threads, --storage and --precision.
void arithmetic_fields(Fields& fields, engine::PlacementWish& wish);

// Behind what a language model is for, where one is named.
inline constexpr std::string_view kWritingModel =
    "one that was pulled or imported, or a GGUF file; auto: the newest of those here.";

// The option --context, of a language model.
void context_field(Fields& fields, std::optional<int64_t>& context);

// The option --vad-model, of verbs that hear.
void vad_model_field(Fields& fields, std::string& model);

// The option --lexicon, of verbs that speak or hear.
void lexicon_field(Fields& fields, std::string& file);

// The section "Model and device" of verbs that recognise, and of verbs that speak.
void model_fields(Fields& fields, engine::RecognizerWish& wish);
void model_fields(Fields& fields, engine::SynthesizerWish& wish);

}  // namespace mynah::cli
