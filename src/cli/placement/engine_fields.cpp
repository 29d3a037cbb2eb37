#include "cli/placement/engine_fields.h"

#include <utility>
#include <vector>

#include "chat/choice_ranges.h"
#include "place/terms/device_name.h"

namespace mynah::cli {

void device_field(Fields& fields, std::string& device, std::string help) {
  std::vector<std::string> words = place::device_names();
  words.insert(words.end(), {"cuda,cpu", "profile:"});
  fields.option("device", "DEVICE", device, std::move(help)).offering(std::move(words));
}

std::string device_details() {
  return "--device takes auto (the fastest of what is proven), cpu, cuda or cuda:N (a card), ref\n"
         "and simt:0 (plain loops and a simulated card, to check against); a list in order of\n"
         "preference, such as cuda,cpu; a list for each group or stage, such as stt=cuda,tts=cpu\n"
         "or tts.vocoder=cpu (vad, stt.encoder, stt.decoder, tts.acoustic, tts.vocoder, llm,\n"
         "llm.lower, embed), in which stt=cuda:0+cuda:1 hears with both at once; or\n"
         "profile:NAME, as `mynah tune` measured. What is named alone is used or refused.\n";
}

void limit_fields(Fields& fields, engine::PlacementWish& wish) {
  fields.option("max-vram", "SIZE", wish.max_vram,
                "The most of a card's memory that is taken, such as 4GB or 800MB; default: what is "
                "free.");
  fields.option("keep-alive", "TIME", wish.keep_alive,
                "What nobody used for so long is let go: seconds, or 30s, 5m, 1h; 0: at once; or "
                "never.");
}

void layers_field(Fields& fields, engine::PlacementWish& wish) {
  fields
      .option("gpu-layers", "N", wish.gpu_layers,
              "Layers of a language model, its last ones, that a card computes; the processor "
              "computes the rest. None: as is measured to be best.")
      .also("n-gpu-layers");
}

void threads_field(Fields& fields, engine::PlacementWish& wish) {
  fields.option("threads", "N", wish.threads, "Threads to compute with; 0: the physical cores.")
      .shorter('t');
}

void arithmetic_fields(Fields& fields, engine::PlacementWish& wish) {
  threads_field(fields, wish);
  fields.option(
      "storage", "TYPE", wish.storage,
      "Compute with weights as f32, f16, bf16, int8 or a block type such as q8_0; default: int8.");
  fields.choice("precision", "HOW", wish.precision,
                {{"fast", Precision::Fast}, {"exact", Precision::Exact}},
                "Arithmetic: as fast as the weights' type allows, or in f32.");
}

void context_field(Fields& fields, std::optional<int64_t>& context) {
  fields
      .option("context", "N", context,
              "Tokens that a conversation may have; 0: as many as the model was trained for; none: "
              "8192, or fewer where memory is short.")
      .within(choice::kTokens.least, choice::kTokens.most);
}

void vad_model_field(Fields& fields, std::string& model) {
  fields
      .option("vad-model", "NAME", model,
              "Voice detector: one that was pulled, a path, or builtin; auto: silero, or one that "
              "was imported.")
      .completes(Complete::Models);
}

void lexicon_field(Fields& fields, std::string& file) {
  fields
      .option("lexicon", "FILE", file,
              "Your own words: lines of word, tab, phonemes (Kokoro's or IPA); a word alone is for "
              "those that hear.")
      .completes(Complete::Files);
}

void model_fields(Fields& fields, engine::RecognizerWish& wish) {
  fields.section("Model and device");
  fields
      .option("model", "NAME", wish.model,
              "A model that was pulled or imported, a path, or builtin; auto: the newest of those "
              "here.")
      .shorter('m')
      .completes(Complete::Models);
  device_field(fields, wish.placement.device, std::string(kDeviceHelp));
  limit_fields(fields, wish.placement);
  arithmetic_fields(fields, wish.placement);
  vad_model_field(fields, wish.vad_model);
  fields.flag("offline", wish.offline, "Never ask the network.");
  fields.flag("yes", wish.yes, "Pull a model that is missing without asking.").shorter('y').once();
}

void model_fields(Fields& fields, engine::SynthesizerWish& wish) {
  fields.section("Model and device");
  fields
      .option("model", "NAME", wish.model,
              "A voice model that was pulled or imported, or a path; auto: the best that is here.")
      .shorter('m')
      .completes(Complete::Models);
  fields
      .option("voice-config", "FILE", wish.voice_config,
              "What says how a Piper voice is to be used; empty: NAME.onnx.json beside it.")
      .shorter('c')
      .completes(Complete::Files)
      .once();
  device_field(fields, wish.placement.device, std::string(kDeviceHelp));
  lexicon_field(fields, wish.lexicon);
  limit_fields(fields, wish.placement);
  arithmetic_fields(fields, wish.placement);
}

}  // namespace mynah::cli
