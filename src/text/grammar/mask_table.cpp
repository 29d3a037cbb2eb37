#include "text/grammar/mask_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace mynah::grammar {
namespace {

std::unexpected<Error> too_many_readings() {
  return fail(
      ErrorCode::Unsupported,
      fmt::format("the text can be read in more than {} ways at once, or is inside of more than {} "
                  "rules: make the grammar less ambiguous, or its texts less deep",
                  kMostReadings, kMostDepth));
}

// A byte as a message shows it.
std::string shown(std::string_view bytes, size_t at) {
  const auto byte = static_cast<unsigned char>(bytes[at]);
  return byte > 0x20 && byte < 0x7F ? fmt::format("\"{}\"", static_cast<char>(byte))
                                    : fmt::format("0x{:02X}", byte);
}

// A node of the path that a walk is on, and the config behind it.
struct Visited {
  ConfigId config = Configs::kDead;
  uint32_t node = 0;
  bool escaped = false;  // the rules over an unknown stack may have ended here, or above
};

// Walks a trie from a config on, into all that leads on: `take` gets the tokens that it comes by,
// many at once, and `leave` each node whose subtree is left out, with the path above it: path[0] is
// the config's own place, path[depth - 1] the node's parent. Ends early, with false, where there is
// no work left.
template <class Take, class Leave>
bool walk(Configs& configs, ConfigId config, const TokenTrie& trie, Take take, Leave leave) {
  std::vector<Visited> path(trie.longest() + size_t{1});
  path[0] = {.config = config, .node = 0, .escaped = configs.escapes(config)};
  uint32_t taken = 0;  // nodes before it are dealt with, those up to the one at hand lead on
  for (uint32_t node = 0; node < trie.size();) {
    const uint32_t depth = trie.depth(node);
    const Visited& above = path[depth - 1];
    const ConfigId next = configs.step(above.config, trie.byte(node));
    if (next > Configs::kDead) {
      path[depth] = {next, node, above.escaped || configs.escapes(next)};
      ++node;
    } else if (next == Configs::kNoWork) {
      return false;
    } else {
      take(trie.tokens(taken, node));
      leave(node, std::span(path).first(depth));
      node = taken = trie.end(node);
    }
  }
  take(trie.tokens(taken, trie.size()));
  return true;
}

// Collects subtrees of a trie, with the nodes above each.
class SubTrie {
 public:
  explicit SubTrie(const TokenTrie& from) : from_(from) {}

  // `path`: as walk() has it.
  void add_subtree(uint32_t node, std::span<const Visited> path) {
    const size_t depth = path.size();
    while (!taken_.empty() &&
           (taken_.size() >= depth || path[taken_.size()].node != taken_.back())) {
      taken_.pop_back();
    }
    for (size_t above = taken_.size() + 1; above < depth; ++above) {
      trie_.append(from_, path[above].node, false);
      taken_.push_back(path[above].node);
    }
    for (uint32_t inner = node; inner < from_.end(node); ++inner) {
      trie_.append(from_, inner, true);
    }
  }

  [[nodiscard]] TokenTrie finish() && {
    trie_.close();
    return std::move(trie_);
  }

 private:
  const TokenTrie& from_;
  std::vector<uint32_t> taken_;  // nodes of the path that were added as such, from depth 1
  TokenTrie trie_;
};

}  // namespace

MaskTable::MaskTable(Automaton automaton, const TokenVocabulary& vocabulary)
    : automaton_(std::move(automaton)),
      vocabulary_(vocabulary),
      newest_(std::make_shared<Generation>(automaton_)) {}

Place MaskTable::start() const {
  const std::scoped_lock lock(mutex_);
  return {.generation = newest_, .config = newest_->configs.start()};
}

bool MaskTable::ends(const Place& place) const {
  const std::scoped_lock lock(mutex_);
  return place.config > Configs::kDead && place.generation->configs.ends(place.config);
}

void MaskTable::move_to_newest(Place& place) const {
  if (newest_->bytes_kept() > kMostConstraintBytes) {
    newest_ = std::make_shared<Generation>(automaton_);
  }
  if (place.generation != newest_) {
    place.config = newest_->configs.moved_from(place.generation->configs, place.config);
    place.generation = newest_;
  }
  newest_->configs.refill();
}

Status MaskTable::accept(Place& place, std::string_view bytes) const {
  // What is learned is looked at, and work allowed for, so often.
  constexpr size_t kPiece = 1024;
  const std::scoped_lock lock(mutex_);
  Place next = place;
  move_to_newest(next);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % kPiece == kPiece - 1) {
      move_to_newest(next);
    }
    next.config = newest_->configs.step(next.config, static_cast<uint8_t>(bytes[i]));
    if (next.config == Configs::kDead) {
      return fail(ErrorCode::InvalidInput, fmt::format("{} may not come here, byte {} of {}",
                                                       shown(bytes, i), i, bytes.size()));
    }
    if (next.config < Configs::kDead) {
      return too_many_readings();
    }
  }
  place = std::move(next);
  return {};
}

const Classified* MaskTable::classify(Generation& generation, SetId set) const {
  if (const auto known = generation.classified.find(set); known != generation.classified.end()) {
    return &known->second;
  }
  Configs& configs = generation.configs;
  const ConfigId start = configs.over_unknown(set);
  const bool takes_plain = generation.plain.is_taken(configs, automaton_, start);
  const TokenTrie& trie = takes_plain ? vocabulary_.trie_of_others() : vocabulary_.trie();
  TokenSet allowed = takes_plain ? vocabulary_.plain() : TokenSet(vocabulary_.mask_words());
  SubTrie uncertain(trie);
  const bool is_whole = walk(
      configs, start, trie, [&](std::span<const int32_t> tokens) { allowed.add(tokens); },
      [&](uint32_t node, std::span<const Visited> path) {
        if (path.back().escaped) {
          uncertain.add_subtree(node, path);
        }
      });
  if (!is_whole) {
    return nullptr;
  }
  const auto place =
      generation.classified.try_emplace(set, Classified{allowed, std::move(uncertain).finish()})
          .first;
  generation.bytes += place->second.allowed.bytes_kept() + place->second.uncertain.bytes_kept();
  return &place->second;
}

bool MaskTable::add_uncertain(Configs& configs, ConfigId config, const TokenTrie& trie,
                              std::span<uint32_t> bits) const {
  return walk(
      configs, config, trie,
      [&](std::span<const int32_t> tokens) {
        std::ranges::for_each(tokens, [&](int32_t token) { set_token_bit(bits, token); });
      },
      [](uint32_t /*node*/, std::span<const Visited> /*path*/) {});
}

Status MaskTable::mask(Place& place, std::span<uint32_t> bits) const {
  std::ranges::fill(bits, 0);
  const std::scoped_lock lock(mutex_);
  move_to_newest(place);
  if (place.config < Configs::kDead) {
    return too_many_readings();
  }
  Configs& configs = newest_->configs;
  auto known = newest_->masks.find(place.config);
  if (known == newest_->masks.end()) {
    std::vector<uint32_t> made(vocabulary_.mask_words(), 0);
    // Classifying adds to what the list of groups lies in.
    const auto groups = configs.groups(place.config);
    for (const Configs::Group group : std::vector<Configs::Group>(groups.begin(), groups.end())) {
      const Classified* classified = classify(*newest_, group.set);
      if (classified == nullptr ||
          !add_uncertain(configs, place.config, classified->uncertain, made)) {
        return too_many_readings();
      }
      classified->allowed.add_to(made);
    }
    if (configs.ends(place.config)) {
      std::ranges::for_each(vocabulary_.ends(), [&](int32_t token) { set_token_bit(made, token); });
    }
    newest_->bytes += made.size() * sizeof(uint32_t);
    known = newest_->masks.try_emplace(place.config, std::move(made)).first;
  }
  std::ranges::copy(known->second, bits.begin());
  if (std::ranges::all_of(bits, [](uint32_t word) { return word == 0; })) {
    return fail(ErrorCode::InvalidInput,
                "no token may come next: the vocabulary has none that writes what the grammar "
                "wants here, or no end");
  }
  return {};
}

std::string MaskTable::forced(Place& place, size_t most) const {
  const std::scoped_lock lock(mutex_);
  move_to_newest(place);
  Configs& configs = newest_->configs;
  std::string bytes;
  for (ConfigId config = place.config;
       config > Configs::kDead && !configs.ends(config) && bytes.size() < most;) {
    size_t ways = 0;
    ConfigId only = Configs::kDead;
    uint8_t byte = 0;
    for (size_t byte_class = 0; byte_class < automaton_.classes() && ways < 2; ++byte_class) {
      const ConfigId next = configs.step_class(config, byte_class);
      if (next != Configs::kDead) {
        ways += next > Configs::kDead ? static_cast<size_t>(automaton_.members(byte_class)) : 2;
        only = next;
        byte = automaton_.member(byte_class);
      }
    }
    if (ways != 1) {
      break;
    }
    bytes.push_back(static_cast<char>(byte));
    config = only;
  }
  return bytes;
}

size_t MaskTable::bytes_kept() const {
  const std::scoped_lock lock(mutex_);
  return automaton_.bytes_kept() + newest_->bytes_kept();
}

}  // namespace mynah::grammar
