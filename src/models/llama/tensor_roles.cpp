#include "models/llama/tensor_roles.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "models/llama/recurrence.h"

namespace mynah::llama {
namespace {

// Tensors of a block and of the model that are read, all with ".weight", which of them may have a
// ".bias" or a ".scale", and of which architectures. Another would be left out in silence.
struct Role {
  std::string_view name;
  bool bias = false;
  bool Architecture::* of = nullptr;  // null: all
  bool scale = false;
};

constexpr std::array kModelRoles = {
    Role{"token_embd"},
    Role{"output_norm"},
    Role{"output_norm", true, &Architecture::layer_norms},
    Role{"output"},
    Role{"rope_freqs"},
    Role{"rope_factors_long"},
    Role{"rope_factors_short"},
    Role{"per_layer_token_embd", false, &Architecture::layer_inputs},
    Role{"per_layer_model_proj", false, &Architecture::layer_inputs},
    Role{"per_layer_proj_norm", false, &Architecture::layer_inputs}};
constexpr std::array kBlockRoles = {Role{"attn_norm"},
                                    Role{"attn_norm", true, &Architecture::layer_norms},
                                    Role{"attn_q", true},
                                    Role{"attn_k", true},
                                    Role{"attn_v", true},
                                    Role{"attn_qkv", true},
                                    Role{"attn_output", true},
                                    Role{"attn_q_norm", false, &Architecture::normed_heads},
                                    Role{"attn_k_norm", false, &Architecture::normed_heads},
                                    Role{"attn_gate", false, &Architecture::attention_gate},
                                    Role{"attn_sinks", false, &Architecture::sinks},
                                    Role{"post_attention_norm"},
                                    Role{"ffn_norm"},
                                    Role{"ffn_norm", true, &Architecture::layer_norms},
                                    Role{"ffn_gate", true},
                                    Role{"ffn_up", true},
                                    Role{"ffn_down", true},
                                    Role{"post_ffw_norm", false, &Architecture::normed_results},
                                    Role{"ffn_gate_inp", true, &Architecture::experts, true},
                                    Role{"ffn_gate_exps", true, &Architecture::experts},
                                    Role{"ffn_up_exps", true, &Architecture::experts},
                                    Role{"ffn_gate_up_exps", true, &Architecture::experts},
                                    Role{"ffn_down_exps", true, &Architecture::experts, true},
                                    Role{"exp_probs_b", true, &Architecture::experts},
                                    Role{"ffn_gate_inp_shexp", false, &Architecture::shared_expert},
                                    Role{"ffn_gate_shexp", false, &Architecture::shared_expert},
                                    Role{"ffn_up_shexp", false, &Architecture::shared_expert},
                                    Role{"ffn_down_shexp", false, &Architecture::shared_expert},
                                    Role{"pre_ffw_norm_2", false, &Architecture::layer_inputs},
                                    Role{"post_ffw_norm_1", false, &Architecture::layer_inputs},
                                    Role{"post_ffw_norm_2", false, &Architecture::layer_inputs},
                                    Role{"layer_output_scale", false, &Architecture::layer_inputs},
                                    Role{"inp_gate", false, &Architecture::layer_inputs},
                                    Role{"proj", false, &Architecture::layer_inputs},
                                    Role{"post_norm", false, &Architecture::layer_inputs}};

bool is_read(std::string_view name, std::span<const Role> roles, const Architecture& of) {
  return std::ranges::any_of(roles, [&](const Role& role) {
    if (!name.starts_with(role.name) || (role.of != nullptr && !(of.*role.of))) {
      return false;
    }
    const std::string_view kind = name.substr(role.name.size());
    return kind == ".weight" || (role.bias && kind == ".bias") || (role.scale && kind == ".scale");
  });
}

}  // namespace

Status check_tensors(const TensorFile& file, const Architecture& architecture, int64_t layers) {
  constexpr std::string_view kBlock = "blk.";
  for (const StoredTensor& tensor : file.tensors) {
    std::string_view name = tensor.name;
    const bool of_block = name.starts_with(kBlock);
    if (of_block) {
      int64_t block = 0;
      (void)std::from_chars(name.data() + kBlock.size(), name.data() + name.size(), block);
      if (block >= layers) {
        continue;
      }
      name.remove_prefix(std::min(name.size(), name.find('.', kBlock.size()) + 1));
    }
    const bool read =
        of_block
            ? is_read(name, kBlockRoles, architecture) || is_read_by(architecture.recurrence, name)
            : is_read(name, kModelRoles, architecture) ||
                  is_read(name, std::array{Role{architecture.last_norm}}, architecture);
    if (!read) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("{}: mynah does not know what such a tensor is for", tensor.name));
    }
  }
  return {};
}

}  // namespace mynah::llama
