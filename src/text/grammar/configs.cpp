#include "text/grammar/configs.h"

#include <algorithm>
#include <map>
#include <set>

namespace mynah::grammar {
namespace {

// What a hash map's entry takes beside its key's text, about.
constexpr size_t kEntryBytes = 64;
// Bytes that count as much as a step through a state.
constexpr size_t kBytesOfWork = 16;

std::vector<StateId>& states_of(auto& pending, NodeId node) {
  const auto found = std::ranges::find(pending, node, [](const auto& one) { return one.node; });
  if (found != pending.end()) {
    return found->states;
  }
  return pending.emplace_back(node).states;
}

}  // namespace

Configs::Configs(const Automaton& automaton) : automaton_(automaton), seen_(automaton.size(), 0) {
  std::vector<StateId> none;
  const SetId empty = intern_set(none);
  nodes_ = {{.parent = kUnknown, .returns = empty}, {.parent = kBottom, .returns = empty}};
  std::vector<Group> no_groups;
  (void)intern_config(no_groups, false, false);  // kDead
  start_ = close({{.node = kBottom, .states = {automaton.start()}}});
}

SetId Configs::intern_set(std::vector<StateId>& states) {
  std::ranges::sort(states);
  const auto [repeated, end] = std::ranges::unique(states);
  states.erase(repeated, end);
  std::u32string key(states.begin(), states.end());
  const auto [place, is_new] =
      set_ids_.try_emplace(std::move(key), static_cast<SetId>(sets_.size()));
  if (is_new) {
    sets_.push_back({static_cast<uint32_t>(states_.size()), static_cast<uint32_t>(states.size())});
    states_.insert(states_.end(), states.begin(), states.end());
    bytes_kept_ += kEntryBytes + sizeof(Slice) + (2 * sizeof(StateId) * states.size());
  }
  return place->second;
}

NodeId Configs::intern_node(NodeId parent, SetId returns) {
  const uint64_t key = (static_cast<uint64_t>(parent) << 32U) | static_cast<uint32_t>(returns);
  const auto [place, is_new] = node_ids_.try_emplace(key, static_cast<NodeId>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({parent, returns, node(parent).depth + 1});
    bytes_kept_ += kEntryBytes + sizeof(Node);
  }
  return place->second;
}

ConfigId Configs::intern_config(std::vector<Group>& groups, bool ends, bool escapes) {
  std::ranges::sort(groups);
  std::u32string key = {static_cast<char32_t>((ends ? 1U : 0U) | (escapes ? 2U : 0U))};
  for (const Group& group : groups) {
    key.push_back(static_cast<char32_t>(group.node));
    key.push_back(static_cast<char32_t>(group.set));
  }
  const auto [place, is_new] =
      config_ids_.try_emplace(std::move(key), static_cast<ConfigId>(configs_.size()));
  if (is_new) {
    Config config;
    config.first = static_cast<uint32_t>(groups_.size());
    config.count = static_cast<uint32_t>(groups.size());
    config.ends = ends;
    config.escapes = escapes;
    configs_.push_back(config);
    groups_.insert(groups_.end(), groups.begin(), groups.end());
    next_.resize(next_.size() + automaton_.classes(), kNotMade);
    const size_t bytes = kEntryBytes + sizeof(Config) + (2 * sizeof(Group) * groups.size()) +
                         (sizeof(ConfigId) * automaton_.classes());
    bytes_kept_ += bytes;
    work_left_ -= static_cast<int64_t>(bytes / kBytesOfWork);
  }
  return place->second;
}

ConfigId Configs::over_unknown(SetId set) {
  std::vector<Group> group = {{.node = kUnknown, .set = set}};
  return intern_config(group, false, false);
}

ConfigId Configs::make_step(ConfigId config, size_t byte_class) {
  const uint8_t byte = automaton_.member(byte_class);
  std::vector<Pending> pending;
  for (const Group& group : groups(config)) {
    std::vector<StateId> targets;
    for (const StateId state : states(group.set)) {
      for (const Automaton::ByteEdge& edge : automaton_.bytes(state)) {
        if (edge.first <= byte && byte <= edge.last) {
          targets.push_back(edge.target);
        }
      }
      work_left_ -= 1 + static_cast<int64_t>(automaton_.bytes(state).size() / 4);
    }
    if (!targets.empty()) {
      pending.push_back({.node = group.node, .states = std::move(targets)});
    }
  }
  const ConfigId next = pending.empty() ? kDead : close(std::move(pending));
  if (next != kNoWork) {
    next_[(static_cast<size_t>(config) * automaton_.classes()) + byte_class] = next;
  }
  return next;
}

Configs::Reached Configs::reach(std::span<const StateId> states) {
  Reached reached;
  ++round_;
  std::vector<StateId> found;
  const auto find = [&](StateId state) {
    if (seen_[static_cast<size_t>(state)] != round_) {
      seen_[static_cast<size_t>(state)] = round_;
      found.push_back(state);
    }
  };
  std::ranges::for_each(states, find);
  while (!found.empty()) {
    const StateId state = found.back();
    found.pop_back();
    reached.accepts = reached.accepts || automaton_.accepts(state);
    if (!automaton_.bytes(state).empty()) {
      reached.reading.push_back(state);
    }
    const auto calls = automaton_.calls(state);
    reached.calls.insert(reached.calls.end(), calls.begin(), calls.end());
    std::ranges::for_each(automaton_.empties(state), find);
    work_left_ -= 1 + static_cast<int64_t>(automaton_.empties(state).size() + calls.size());
  }
  return reached;
}

// What was begun before this byte is followed from the deepest node up, since the end of a rule
// leads on in its caller. Rules that begin here have read nothing: that they may end at once is
// in the automaton's empty steps.
ConfigId Configs::close(std::vector<Pending> pending) {
  struct Begun {
    NodeId node = 0;
    StateId start = 0;

    auto operator<=>(const Begun&) const = default;
  };

  std::map<NodeId, std::vector<StateId>> reading;
  std::vector<Begun> begun;
  std::set<Begun> begun_before;
  bool ends = false;
  bool escapes = false;
  bool is_too_deep = false;
  const auto take = [&](NodeId at, Reached reached) {
    if (!reached.reading.empty()) {
      auto& states = reading[at];
      states.insert(states.end(), reached.reading.begin(), reached.reading.end());
    }
    is_too_deep = is_too_deep || (!reached.calls.empty() && node(at).depth >= kMostDepth);
    std::ranges::sort(reached.calls, {}, &Automaton::Call::start);
    for (size_t first = 0; first < reached.calls.size();) {
      const StateId start = reached.calls[first].start;
      std::vector<StateId> returns;
      for (; first < reached.calls.size() && reached.calls[first].start == start; ++first) {
        returns.push_back(reached.calls[first].target);
      }
      const Begun call = {intern_node(at, intern_set(returns)), start};
      if (begun_before.insert(call).second) {
        begun.push_back(call);
      }
    }
  };
  const auto is_too_big = [&] {
    return is_too_deep || reading.size() > kMostReadings || begun_before.size() > 8 * kMostReadings;
  };
  while (!pending.empty() && work_left_ > 0 && !is_too_big()) {
    const auto deepest = std::ranges::max_element(
        pending, {}, [&](const Pending& one) { return node(one.node).depth; });
    const Pending one = std::move(*deepest);
    pending.erase(deepest);
    work_left_ -= static_cast<int64_t>(pending.size());
    Reached reached = reach(one.states);
    if (reached.accepts && one.node == kBottom) {
      ends = true;
    } else if (reached.accepts && one.node == kUnknown) {
      escapes = true;
    } else if (reached.accepts) {
      const auto returns = states(node(one.node).returns);
      auto& above = states_of(pending, node(one.node).parent);
      above.insert(above.end(), returns.begin(), returns.end());
    }
    take(one.node, std::move(reached));
  }
  while (!begun.empty() && work_left_ > 0 && !is_too_big()) {
    const Begun call = begun.back();
    begun.pop_back();
    take(call.node, reach(std::span(&call.start, 1)));
  }
  if (is_too_big()) {
    return kTooMany;
  }
  if (work_left_ <= 0) {
    return kNoWork;
  }
  std::vector<Group> groups;
  groups.reserve(reading.size());
  for (auto& [at, states] : reading) {
    groups.push_back({.node = at, .set = intern_set(states)});
  }
  return groups.empty() && !ends && !escapes ? kDead : intern_config(groups, ends, escapes);
}

ConfigId Configs::moved_from(const Configs& other, ConfigId config) {
  const auto set_of = [&](SetId set) {
    const auto states = other.states(set);
    std::vector<StateId> copy(states.begin(), states.end());
    return intern_set(copy);
  };
  std::vector<Group> groups;
  for (const Group& group : other.groups(config)) {
    std::vector<SetId> returns;  // from the uppermost down
    NodeId below = group.node;
    for (; below != kBottom && below != kUnknown; below = other.node(below).parent) {
      returns.push_back(other.node(below).returns);
    }
    for (; !returns.empty(); returns.pop_back()) {
      below = intern_node(below, set_of(returns.back()));
    }
    groups.push_back({.node = below, .set = set_of(group.set)});
  }
  return groups.empty() && !other.ends(config) ? kDead
                                               : intern_config(groups, other.ends(config), false);
}

}  // namespace mynah::grammar
