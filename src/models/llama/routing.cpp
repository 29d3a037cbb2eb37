#include "models/llama/routing.h"

#include <algorithm>

#include <fmt/format.h>

namespace mynah::llama {
namespace {

Status read_scores(const Metadata& metadata, const Architecture& architecture, Config& c) {
  // llama.cpp's llama_expert_gating_func_type.
  constexpr int64_t kUnsaid = 0;
  constexpr int64_t kSoftmax = 1;
  constexpr int64_t kSigmoid = 2;
  constexpr std::string_view kName = "expert_gating_func";
  MYNAH_TRY(const int64_t named, metadata.integer(kName, 0, kMostExperts, kUnsaid));
  if (named > kSigmoid) {
    return fail(
        ErrorCode::Unsupported,
        fmt::format("{}: mynah weighs experts by a softmax, {}, or by sigmoids, {}, found {}",
                    metadata.key(kName), kSoftmax, kSigmoid, named));
  }
  c.expert_scores = named == kUnsaid    ? architecture.expert_scores
                    : named == kSoftmax ? ExpertScores::Softmax
                                        : ExpertScores::Sigmoid;
  MYNAH_TRY(c.normed_shares, metadata.flag("expert_weights_norm", architecture.normed_shares));
  constexpr double kMostScale = 1e6;
  MYNAH_TRY(const double scale, metadata.number("expert_weights_scale", 0, kMostScale, 0));
  c.expert_scale = scale == 0 ? 1.0F : static_cast<float>(scale);  // 0: none, as llama.cpp reads it
  return {};
}

Status read_groups(const Metadata& metadata, Config& c) {
  constexpr std::string_view kName = "expert_group_count";
  MYNAH_TRY(const int64_t groups, metadata.integer(kName, 0, c.experts, 0));
  if (groups <= 1) {
    return {};
  }
  c.expert_groups = groups;
  MYNAH_TRY(c.used_groups, metadata.integer("expert_group_used_count", 1, groups));
  // A group is chosen by its two best experts.
  const int64_t each = c.experts / groups;
  if (c.experts % groups != 0 || each < 2 || c.used_groups * each < c.used_experts) {
    return fail(
        ErrorCode::InvalidInput,
        fmt::format("{}: wanted groups of {} experts that have two each and {} in {} groups, "
                    "found {} groups",
                    metadata.key(kName), c.experts, c.used_experts, c.used_groups, groups));
  }
  return {};
}

// Columns of the expert that every token is sent to.
Status read_shared(const Metadata& metadata, const Architecture& architecture, Config& c) {
  MYNAH_TRY(const int64_t count, metadata.integer("expert_shared_count", 0, kMostExperts, 0));
  if (!architecture.shared_expert) {
    if (count > 0) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("mynah does not run {} with shared experts: found {}",
                              architecture.name, count));
    }
    return {};
  }
  MYNAH_TRY(c.shared_columns,
            metadata.integer("expert_shared_feed_forward_length", 0, kMostColumns, 0));
  if (c.shared_columns == 0) {
    c.shared_columns = std::min(count * c.expert_columns, kMostColumns);
  }
  if (c.shared_columns == 0) {
    MYNAH_TRY(c.shared_columns, metadata.integer("feed_forward_length", 0, kMostColumns, 0));
  }
  return {};
}

}  // namespace

Status read_experts(const Metadata& metadata, const Architecture& architecture, Config& c) {
  MYNAH_TRY(c.experts, metadata.integer("expert_count", 0, kMostExperts, 0));
  if (c.experts == 0) {
    return {};
  }
  if (!architecture.experts) {
    return fail(ErrorCode::Unsupported, fmt::format("mynah does not run {} with experts: found {}",
                                                    architecture.name, c.experts));
  }
  MYNAH_TRY(c.used_experts, metadata.integer("expert_used_count", 1, c.experts));
  MYNAH_TRY(c.expert_columns, metadata.integer("expert_feed_forward_length", 0, kMostColumns, 0));
  if (c.expert_columns == 0) {
    MYNAH_TRY(const int64_t all, metadata.integer("feed_forward_length", 1, kMostColumns));
    c.expert_columns = architecture.whole_experts ? all : all / c.used_experts;
  }
  if (c.expert_columns == 0) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted {}, found none", metadata.key("expert_feed_forward_length")));
  }
  MYNAH_TRY_STATUS(read_scores(metadata, architecture, c));
  MYNAH_TRY_STATUS(read_groups(metadata, c));
  return read_shared(metadata, architecture, c);
}

}  // namespace mynah::llama
