// A language model of small random matrices, as a GGUF file: bytes are its tokens, beside ChatML's
// marks. What it writes makes no sense, and is the same each time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "formats/gguf_writer.h"
#include "text/vocabulary.h"

namespace mynah::test {

// ChatML, with tools in a message of their own. It refuses a role that is called so, and begins a
// thought where it is asked to.
inline constexpr std::string_view kTinyTemplate =
    "{%- if tools %}{{- '<|im_start|>system\\n<tools>' + (tools | tojson) + '</tools>\\nCall "
    "them as <tool_call>{\"name\": ..., \"arguments\": ...}</tool_call><|im_end|>\\n' }}{%- endif "
    "%}\n"
    "{%- for message in messages %}\n"
    "{%- if message.role in ['refused', 'function'] %}{{- raise_exception('nobody is called so') "
    "}}{%- endif %}\n"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}\n"
    "{%- if enable_thinking is defined and enable_thinking %}{{- '<think>\\n' }}{%- endif %}\n";

inline constexpr int64_t kTinyContext = 512;

// The same where nobody tells of tools.
inline constexpr std::string_view kTinyTemplateWithoutTools =
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{%- endfor %}{{- '<|im_start|>assistant\\n' }}";

// Of so many layers. Returns the path. An empty `chat_template` is left out.
inline std::string write_tiny_language(const std::string& path,
                                       std::string_view chat_template = kTinyTemplate,
                                       int64_t layers = 1) {
  constexpr int64_t kWidth = 32;
  constexpr int64_t kInner = 48;
  constexpr int64_t kHeads = 2;
  constexpr int64_t kHead = 16;
  std::vector<std::string> tokens;
  std::vector<int64_t> types;
  constexpr int64_t kNormal = 1;  // llama.cpp, enum llama_token_type
  constexpr int64_t kControl = 3;
  constexpr int64_t kUserDefined = 4;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(printable_of_bytes(std::string(1, static_cast<char>(byte))));
    types.push_back(kNormal);
  }
  for (const char* mark : {"<|im_start|>", "<|im_end|>"}) {
    tokens.emplace_back(mark);
    types.push_back(kControl);
  }
  for (const char* mark : {"<think>", "</think>", "<tool_call>", "</tool_call>"}) {
    tokens.emplace_back(mark);
    types.push_back(kUserDefined);
  }
  tokens.emplace_back("th");
  types.push_back(kNormal);
  const auto vocabulary = static_cast<int64_t>(tokens.size());
  GgufWriter::Metadata metadata = {{"general.architecture", std::string("llama")},
                                   {"llama.block_count", layers},
                                   {"llama.context_length", kTinyContext},
                                   {"llama.embedding_length", kWidth},
                                   {"llama.feed_forward_length", kInner},
                                   {"llama.vocab_size", vocabulary},
                                   {"llama.attention.head_count", kHeads},
                                   {"llama.attention.head_count_kv", kHeads},
                                   {"llama.attention.layer_norm_rms_epsilon", 1e-5},
                                   {"llama.rope.dimension_count", kHead},
                                   {"llama.rope.freq_base", 10000.0},
                                   {"tokenizer.ggml.model", std::string("gpt2")},
                                   {"tokenizer.ggml.pre", std::string("qwen2")},
                                   {"tokenizer.ggml.tokens", std::move(tokens)},
                                   {"tokenizer.ggml.token_type", std::move(types)},
                                   {"tokenizer.ggml.merges", std::vector<std::string>{"t h"}},
                                   {"tokenizer.ggml.eos_token_id", int64_t{257}}};
  if (!chat_template.empty()) {
    metadata.emplace("tokenizer.chat_template", std::string(chat_template));
  }
  std::vector<GgufTensor> table = {{.name = "token_embd.weight", .shape = {vocabulary, kWidth}}};
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    table.insert(table.end(),
                 {{.name = block + "attn_norm.weight", .shape = {kWidth}},
                  {.name = block + "attn_q.weight", .shape = {kHeads * kHead, kWidth}},
                  {.name = block + "attn_k.weight", .shape = {kHeads * kHead, kWidth}},
                  {.name = block + "attn_v.weight", .shape = {kHeads * kHead, kWidth}},
                  {.name = block + "attn_output.weight", .shape = {kWidth, kHeads * kHead}},
                  {.name = block + "ffn_norm.weight", .shape = {kWidth}},
                  {.name = block + "ffn_gate.weight", .shape = {kInner, kWidth}},
                  {.name = block + "ffn_up.weight", .shape = {kInner, kWidth}},
                  {.name = block + "ffn_down.weight", .shape = {kWidth, kInner}}});
  }
  table.push_back({.name = "output_norm.weight", .shape = {kWidth}});
  auto writer = GgufWriter::create(path, metadata, table);
  EXPECT_TRUE(writer) << writer.error().message;
  uint32_t state = 1;
  for (const GgufTensor& tensor : table) {
    std::vector<float> values(static_cast<size_t>(tensor.shape.elements()));
    const bool is_norm = tensor.name.contains("norm");
    for (float& value : values) {
      state = state * 1664525U + 1013904223U;  // Numerical Recipes, "ranqd1"
      const float random = static_cast<float>(state >> 8U) / static_cast<float>(1U << 24U);
      value = is_norm ? 1.0F : (random - 0.5F) * 0.8F;
    }
    EXPECT_TRUE(writer->write(tensor.name, std::as_bytes(std::span(values))));
  }
  EXPECT_TRUE(writer->finish());
  return path;
}

}  // namespace mynah::test
