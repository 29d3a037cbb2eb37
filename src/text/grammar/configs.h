// Where a text can stand in an automaton: interned, with every step kept that was ever made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/grammar/automaton.h"

namespace mynah::grammar {

// Stacks that a text may be in at once, at most: other grammars than those made to blow up have
// a dozen. Beyond it the text is not taken.
inline constexpr size_t kMostReadings = 512;

// Rules that a text may be inside of at once, at most.
inline constexpr int32_t kMostDepth = 10'000;

// Steps through states between two refills, at most, a new config's memory counted with them:
// a second, and 128 MB.
inline constexpr int64_t kMostWork = int64_t{1} << 23;

using NodeId = int32_t;
using SetId = int32_t;
using ConfigId = int32_t;

// A *node* is a stack of rules that are being read: the node of the caller and the set of states
// in which it may go on afterwards. A *config* is a list of groups, each a node and the set of
// states of the uppermost rule, from each of which a byte can be read; further whether the text may
// end there. All are interned: what is equal has one number, and a step is looked up where it was
// made before.
//
// Calls of one rule from states of one node share their node, so that alternatives that begin alike
// are one reading (a deterministic automaton made as far as texts go; Brzozowski 1964, and
// arXiv:2411.15100 for stacks that persist). Memory grows with what is read, at most by what
// kMostWork allows a request: who holds it looks at bytes_kept() and starts a new one.
class Configs {
 public:
  // Nothing below it is known: a config that comes back to it `escapes`.
  static constexpr NodeId kUnknown = 0;
  // The bottom of a whole text.
  static constexpr NodeId kBottom = 1;

  static constexpr ConfigId kDead = 0;      // no text goes on from here
  static constexpr ConfigId kTooMany = -1;  // kMostReadings or kMostDepth
  static constexpr ConfigId kNoWork = -2;   // kMostWork was used up

  struct Group {
    NodeId node = 0;
    SetId set = 0;

    auto operator<=>(const Group&) const = default;
  };

  // Requires an automaton that lives longer.
  explicit Configs(const Automaton& automaton);

  // The start of a text.
  [[nodiscard]] ConfigId start() const { return start_; }

  // A group's states over an unknown stack.
  [[nodiscard]] ConfigId over_unknown(SetId set);

  // The config after a byte; kTooMany, kNoWork and kDead stay what they are.
  [[nodiscard]] ConfigId step(ConfigId config, uint8_t byte) {
    return step_class(config, automaton_.class_of(byte));
  }

  [[nodiscard]] ConfigId step_class(ConfigId config, size_t byte_class) {
    if (config <= kDead) {
      return config;
    }
    const ConfigId next = next_[(static_cast<size_t>(config) * automaton_.classes()) + byte_class];
    return next != kNotMade ? next : make_step(config, byte_class);
  }

  // Allows for kMostWork from here on.
  void refill() { work_left_ = kMostWork; }

  // Whether the text may be at its end.
  [[nodiscard]] bool ends(ConfigId config) const { return of(config).ends; }

  // Whether the rules over the unknown stack may be at their end.
  [[nodiscard]] bool escapes(ConfigId config) const { return of(config).escapes; }

  [[nodiscard]] std::span<const Group> groups(ConfigId config) const {
    return std::span(groups_).subspan(of(config).first, of(config).count);
  }

  [[nodiscard]] std::span<const StateId> states(SetId set) const {
    const Slice slice = sets_[static_cast<size_t>(set)];
    return std::span(states_).subspan(slice.first, slice.count);
  }

  // Of a node.
  [[nodiscard]] SetId returns(NodeId id) const { return node(id).returns; }

  // The same config among the ones of `other`, which has the same automaton.
  [[nodiscard]] ConfigId moved_from(const Configs& other, ConfigId config);

  [[nodiscard]] size_t bytes_kept() const { return bytes_kept_; }

 private:
  static constexpr ConfigId kNotMade = -3;

  struct Slice {
    uint32_t first = 0;
    uint32_t count = 0;
  };

  struct Node {
    NodeId parent = 0;
    SetId returns = 0;
    int32_t depth = 0;
  };

  struct Config : Slice {
    bool ends = false;
    bool escapes = false;
  };

  // States of one node that are still to be followed.
  struct Pending {
    NodeId node = 0;
    std::vector<StateId> states;
  };

  [[nodiscard]] const Config& of(ConfigId config) const {
    return configs_[static_cast<size_t>(config)];
  }

  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }

  // Sorts the states.
  [[nodiscard]] SetId intern_set(std::vector<StateId>& states);
  [[nodiscard]] NodeId intern_node(NodeId parent, SetId returns);
  [[nodiscard]] ConfigId intern_config(std::vector<Group>& groups, bool ends, bool escapes);

  // Follows empty steps, ends of rules and calls until only bytes lead on.
  [[nodiscard]] ConfigId close(std::vector<Pending> pending);

  [[nodiscard]] ConfigId make_step(ConfigId config, size_t byte_class);

  // States reached from `states` within one rule: those that read a byte, and the calls.
  struct Reached {
    std::vector<StateId> reading;
    std::vector<Automaton::Call> calls;
    bool accepts = false;
  };

  [[nodiscard]] Reached reach(std::span<const StateId> states);

  const Automaton& automaton_;
  std::vector<Node> nodes_;
  std::vector<Slice> sets_;
  std::vector<StateId> states_;
  std::vector<Config> configs_;
  std::vector<Group> groups_;
  std::vector<ConfigId> next_;  // classes() a config
  std::unordered_map<uint64_t, NodeId> node_ids_;
  std::unordered_map<std::u32string, SetId> set_ids_;
  std::unordered_map<std::u32string, ConfigId> config_ids_;
  std::vector<uint32_t> seen_;  // of each state: the last round of reach that saw it
  uint32_t round_ = 0;
  int64_t work_left_ = kMostWork;
  size_t bytes_kept_ = 0;
  ConfigId start_ = kDead;
};

}  // namespace mynah::grammar
