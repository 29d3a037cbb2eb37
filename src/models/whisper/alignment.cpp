#include "models/whisper/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mynah::whisper {
namespace {

constexpr int64_t kMedianWidth = 7;  // openai/whisper timing.py medfilt_width

// One request's part of a batch.
struct Part {
  Span rows;           // its tokens among the batch's
  int64_t first_text;  // row, within the part, that predicts the first text token
};

// Every head of every frame, over the tokens: zero mean, unit variance.
void normalise_over_tokens(std::span<float> weights, int64_t tokens, int64_t frames) {
  for (int64_t frame = 0; frame < frames; ++frame) {
    double sum = 0;
    double squares = 0;
    for (int64_t token = 0; token < tokens; ++token) {
      const double w = weights[static_cast<size_t>(token * frames + frame)];
      sum += w;
      squares += w * w;
    }
    const double mean = sum / static_cast<double>(tokens);
    const double variance = std::max(0.0, squares / static_cast<double>(tokens) - mean * mean);
    const double scale = variance > 0 ? 1.0 / std::sqrt(variance) : 0.0;
    for (int64_t token = 0; token < tokens; ++token) {
      float& w = weights[static_cast<size_t>(token * frames + frame)];
      w = static_cast<float>((w - mean) * scale);
    }
  }
}

// Mean over the alignment heads of their filtered weights: (tokens, positions).
std::vector<float> alignment_matrix(const Model& model, const CrossCache& cross,
                                    const AlignmentRequest& request, const Part& part,
                                    std::span<const Tensor> queries) {
  Backend& backend = model.decoder_backend();
  const int64_t tokens = part.rows.length;
  const int64_t frames = request.positions;
  std::vector<float> sum(static_cast<size_t>(tokens * frames), 0.0F);
  const std::vector<AlignmentHead>& heads = model.config().alignment_heads;
  for (int64_t layer = 0; layer < model.config().n_text_layer; ++layer) {
    if (std::ranges::none_of(heads, [&](const AlignmentHead& h) { return h.layer == layer; })) {
      continue;
    }
    const Tensor q = queries[static_cast<size_t>(layer)].narrow(0, part.rows.begin, tokens);
    const Tensor probabilities = model.decoder().alignment(q, cross, layer, request.utterance,
                                                           frames);  // (heads, tokens, positions)
    for (const AlignmentHead& head : heads) {
      if (head.layer != layer) {
        continue;
      }
      std::vector<float> weights =
          ops::to_host(backend, probabilities.narrow(0, head.head, 1));  // (1, tokens, positions)
      normalise_over_tokens(weights, tokens, frames);
      const Tensor smooth = ops::median_filter(
          backend, ops::from_host(backend, std::span<const float>(weights), {tokens, frames}),
          kMedianWidth);
      const std::vector<float> filtered = ops::to_host(backend, smooth);
      std::ranges::transform(sum, filtered, sum.begin(), std::plus<>());
    }
  }
  for (float& value : sum) {
    value /= static_cast<float>(heads.size());
  }
  return sum;
}

// Probability of each text token among all text tokens, as the teacher-forced pass gives it.
std::vector<float> token_probabilities(const Model& model, const AlignmentRequest& request,
                                       const Part& part, const Tensor& hidden) {
  const auto n = static_cast<int64_t>(request.text_tokens.size());
  Backend& backend = model.decoder_backend();
  const Tensor logits = model.decoder().logits(
      hidden.narrow(0, part.rows.begin + part.first_text, n));  // (n, n_vocab)
  const Tensor text =
      ops::contiguous(backend, logits.narrow(1, 0, model.tokenizer().special().eot));
  const Tensor log_probabilities = ops::log_softmax(backend, text);
  std::vector<float> row(static_cast<size_t>(text.dim(1)));
  std::vector<float> result;
  for (int64_t i = 0; i < n; ++i) {
    ops::to_host(backend, log_probabilities.narrow(0, i, 1), std::span<float>(row));
    result.push_back(
        std::exp(row[static_cast<size_t>(request.text_tokens[static_cast<size_t>(i)])]));
  }
  return result;
}

// Position at which each row of the path is first reached.
std::vector<int64_t> first_columns(const WarpingPath& path) {
  std::vector<int64_t> columns;
  for (size_t i = 0; i < path.rows.size(); ++i) {
    if (i == 0 || path.rows[i] != path.rows[i - 1]) {
      columns.push_back(path.columns[i]);
    }
  }
  return columns;
}

std::vector<WordTiming> time_words(const Model& model, const AlignmentRequest& request,
                                   std::span<const int64_t> columns,
                                   std::span<const float> probabilities) {
  // The end of the transcript is a word of its own: its time ends the last one.
  std::vector<int32_t> tokens = request.text_tokens;
  tokens.push_back(model.tokenizer().special().eot);
  const std::vector<TokenWord> words = model.tokenizer().split_to_words(tokens, request.language);
  std::vector<WordTiming> timings;
  size_t first = 0;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const size_t last = first + words[i].tokens.size();
    if (last >= columns.size() || last > probabilities.size()) {
      break;
    }
    float sum = 0;
    for (size_t token = first; token < last; ++token) {
      sum += probabilities[token];
    }
    timings.push_back({.word = words[i].text,
                       .tokens = words[i].tokens,
                       .start_s = static_cast<double>(columns[first]) * kTimestampStep_s,
                       .end_s = static_cast<double>(columns[last]) * kTimestampStep_s,
                       .probability = sum / static_cast<float>(std::max<size_t>(1, last - first))});
    first = last;
  }
  return timings;
}

}  // namespace

WarpingPath warp(std::span<const float> cost, int64_t rows, int64_t columns) {
  enum Step : uint8_t { kDiagonal, kDown, kRight };

  const auto width = static_cast<size_t>(columns + 1);
  const auto at = [&](int64_t row, int64_t column) {
    return static_cast<size_t>(row) * width + static_cast<size_t>(column);
  };
  std::vector<uint8_t> steps(static_cast<size_t>(rows + 1) * width, kDiagonal);
  // Two rows of totals; a border of infinity keeps the path inside.
  std::vector<double> above(width, std::numeric_limits<double>::infinity());
  std::vector<double> here(width, std::numeric_limits<double>::infinity());
  above[0] = 0;
  std::fill(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(width), kRight);
  for (int64_t row = 1; row <= rows; ++row) {
    here[0] = std::numeric_limits<double>::infinity();
    steps[at(row, 0)] = kDown;
    for (int64_t column = 1; column <= columns; ++column) {
      const auto j = static_cast<size_t>(column);
      const double diagonal = above[j - 1];
      const double down = above[j];
      const double right = here[j - 1];
      Step step = kRight;
      if (diagonal < down && diagonal < right) {
        step = kDiagonal;
      } else if (down < diagonal && down < right) {
        step = kDown;
      }
      const double before = step == kDiagonal ? diagonal : step == kDown ? down : right;
      here[j] = before + cost[static_cast<size_t>((row - 1) * columns + column - 1)];
      steps[at(row, column)] = step;
    }
    std::swap(above, here);
  }
  WarpingPath path;
  for (int64_t row = rows, column = columns; row > 0 || column > 0;) {
    path.rows.push_back(row - 1);
    path.columns.push_back(column - 1);
    const uint8_t step = steps[at(row, column)];
    row -= step != kRight ? 1 : 0;
    column -= step != kDown ? 1 : 0;
  }
  std::ranges::reverse(path.rows);
  std::ranges::reverse(path.columns);
  return path;
}

std::vector<std::vector<WordTiming>> align_words(const Model& model, const CrossCache& cross,
                                                 std::span<const AlignmentRequest> requests) {
  const WhisperSpecialTokens& special = model.tokenizer().special();
  std::vector<int32_t> tokens;
  std::vector<Lane> lanes;
  std::vector<Part> parts;
  size_t longest = 0;
  for (const AlignmentRequest& request : requests) {
    const size_t begin = tokens.size();
    tokens.insert(tokens.end(), request.sot_sequence.begin(), request.sot_sequence.end());
    tokens.push_back(special.no_timestamps);
    tokens.insert(tokens.end(), request.text_tokens.begin(), request.text_tokens.end());
    tokens.push_back(special.eot);
    const size_t count = tokens.size() - begin;
    longest = std::max(longest, count);
    lanes.push_back({.count = static_cast<int64_t>(count), .context = request.utterance});
    parts.push_back({.rows = {static_cast<int64_t>(begin), static_cast<int64_t>(count)},
                     .first_text = static_cast<int64_t>(request.sot_sequence.size())});
  }
  std::vector<std::vector<WordTiming>> results(requests.size());
  if (requests.empty()) {
    return results;
  }
  KvCache cache = model.decoder().new_cache(static_cast<int64_t>(requests.size()),
                                            static_cast<int64_t>(longest));
  for (Lane& lane : lanes) {
    lane.sequence = cache.add();
  }
  std::vector<Tensor> queries;
  const Tensor hidden = model.decoder().forward(tokens, lanes, cache, cross, &queries);
  for (size_t i = 0; i < requests.size(); ++i) {
    const AlignmentRequest& request = requests[i];
    if (request.text_tokens.empty() || request.positions < 1) {
      continue;
    }
    const Part& part = parts[i];
    std::vector<float> cost = alignment_matrix(model, cross, request, part, queries);
    std::ranges::transform(cost, cost.begin(), std::negate<>());
    // Rows that predict the text tokens and the end of the transcript.
    const int64_t rows = part.rows.length - part.first_text - 1;
    const auto skipped = static_cast<size_t>(part.first_text * request.positions);
    const WarpingPath path = warp(std::span<const float>(cost).subspan(
                                      skipped, static_cast<size_t>(rows * request.positions)),
                                  rows, request.positions);
    results[i] = time_words(model, request, first_columns(path),
                            token_probabilities(model, request, part, hidden));
  }
  return results;
}

}  // namespace mynah::whisper
