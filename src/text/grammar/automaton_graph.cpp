// What has to be known of all of an automaton's edges at once.
#include <algorithm>

#include <fmt/format.h>

#include "text/grammar/automaton_builder.h"

namespace mynah::grammar {
namespace {

size_t index_of(StateId state) {
  return static_cast<size_t>(state);
}

// Numbers of edges, by a state of each.
class EdgeIndex {
 public:
  template <class Edges, class StateOf>
  EdgeIndex(const Edges& edges, size_t states, StateOf state_of) : firsts_(states + 1, 0) {
    for (const auto& edge : edges) {
      if (state_of(edge) >= 0) {
        ++firsts_[index_of(state_of(edge)) + 1];
      }
    }
    for (size_t state = 0; state < states; ++state) {
      firsts_[state + 1] += firsts_[state];
    }
    numbers_.resize(firsts_.back());
    std::vector<uint32_t> next(firsts_.begin(), firsts_.end() - 1);
    for (size_t edge = 0; edge < edges.size(); ++edge) {
      if (const StateId state = state_of(edges[edge]); state >= 0) {
        numbers_[next[index_of(state)]++] = static_cast<uint32_t>(edge);
      }
    }
  }

  [[nodiscard]] std::span<const uint32_t> of(StateId state) const {
    return std::span(numbers_).subspan(firsts_[index_of(state)],
                                       firsts_[index_of(state) + 1] - firsts_[index_of(state)]);
  }

 private:
  std::vector<uint32_t> firsts_;
  std::vector<uint32_t> numbers_;
};

}  // namespace

std::vector<uint8_t> AutomatonBuilder::states_that_end(bool by_bytes) const {
  const EdgeIndex into(edges_, accepts_.size(), [](const Edge& edge) { return edge.target; });
  const EdgeIndex of_start(edges_, accepts_.size(), [](const Edge& edge) { return edge.start; });
  std::vector<uint8_t> ends = accepts_;
  std::vector<StateId> found;
  for (size_t state = 0; state < ends.size(); ++state) {
    if (ends[state] != 0) {
      found.push_back(static_cast<StateId>(state));
    }
  }
  const auto look_at = [&](const Edge& edge) {
    const bool is_passed =
        edge.start == kNoCall ? edge.empty || by_bytes : ends[index_of(edge.start)] != 0;
    if (is_passed && ends[index_of(edge.target)] != 0 && ends[index_of(edge.from)] == 0) {
      ends[index_of(edge.from)] = 1;
      found.push_back(edge.from);
    }
  };
  while (!found.empty()) {
    const StateId state = found.back();
    found.pop_back();
    for (const auto* edges : {&into, &of_start}) {
      for (const uint32_t edge : edges->of(state)) {
        look_at(edges_[edge]);
      }
    }
  }
  return ends;
}

void AutomatonBuilder::step_over_empty_rules() {
  const std::vector<uint8_t> may_be_empty = states_that_end(false);
  const size_t count = edges_.size();
  for (size_t i = 0; i < count; ++i) {
    const Edge edge = edges_[i];
    if (edge.start != kNoCall && may_be_empty[index_of(edge.start)] != 0 &&
        edge.from != edge.target) {
      edges_.push_back({.from = edge.from, .target = edge.target, .empty = true});
    }
  }
}

// Tarjan's algorithm (SIAM J. Comput. 1972), with a stack of its own.
std::vector<int32_t> AutomatonBuilder::components_without_bytes() const {
  const EdgeIndex out_of(edges_, accepts_.size(), [](const Edge& edge) {
    return edge.empty || edge.start != kNoCall ? edge.from : kNoCall;
  });

  struct Visit {
    StateId state = 0;
    size_t next_edge = 0;
  };

  constexpr int32_t kUnseen = -1;
  const size_t states = accepts_.size();
  std::vector<int32_t> component(states, kUnseen);
  std::vector<int32_t> order(states, kUnseen);
  std::vector<int32_t> lowest(states, 0);
  std::vector<StateId> open;
  std::vector<Visit> visits;
  int32_t next_order = 0;
  int32_t next_component = 0;
  const auto begin = [&](StateId state) {
    order[index_of(state)] = lowest[index_of(state)] = next_order++;
    open.push_back(state);
    visits.push_back({state, 0});
  };
  for (size_t root = 0; root < states; ++root) {
    if (order[root] != kUnseen) {
      continue;
    }
    begin(static_cast<StateId>(root));
    while (!visits.empty()) {
      const StateId state = visits.back().state;
      const auto edges = out_of.of(state);
      if (visits.back().next_edge < edges.size()) {
        const Edge& edge = edges_[edges[visits.back().next_edge++]];
        const StateId next = edge.empty ? edge.target : edge.start;
        if (order[index_of(next)] == kUnseen) {
          begin(next);
        } else if (component[index_of(next)] == kUnseen) {
          lowest[index_of(state)] = std::min(lowest[index_of(state)], order[index_of(next)]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) {
        int32_t& above = lowest[index_of(visits.back().state)];
        above = std::min(above, lowest[index_of(state)]);
      }
      if (lowest[index_of(state)] == order[index_of(state)]) {
        StateId last = -1;
        while (last != state) {
          last = open.back();
          open.pop_back();
          component[index_of(last)] = next_component;
        }
        ++next_component;
      }
    }
  }
  return component;
}

Status AutomatonBuilder::refuse_left_recursion() const {
  const std::vector<int32_t> component = components_without_bytes();
  for (const Edge& edge : edges_) {
    if (edge.start == kNoCall ||
        component[index_of(edge.from)] != component[index_of(edge.start)]) {
      continue;
    }
    const auto rules = grammar_.rules();
    size_t rule = 0;  // one of those that call each other; its first state has its number
    while (rule + 1 < rules.size() && component[rule] != component[index_of(edge.start)]) {
      ++rule;
    }
    return fail(ErrorCode::Unsupported,
                fmt::format("rule \"{}\" can begin with itself (left recursion): write it as "
                            "a repeat, as in  list ::= item (\",\" item)*",
                            rules[rule].name));
  }
  return {};
}

Result<Automaton> AutomatonBuilder::finish() const {
  const std::vector<uint8_t> ends = states_that_end(true);
  if (ends.front() == 0) {
    return fail(ErrorCode::InvalidInput,
                "no text fits the grammar: from its start on every way leads into a rule that "
                "never ends, or into a choice of nothing");
  }
  const auto is_kept = [&](const Edge& edge) {
    return ends[index_of(edge.target)] != 0 &&
           (edge.start == kNoCall || ends[index_of(edge.start)] != 0);
  };
  Automaton automaton;
  automaton.accepts_ = accepts_;
  // The edges of one kind, by the state they lead from.
  const auto list = [&]<class T>(Automaton::Lists<T>& lists, auto is_of_kind, auto made) {
    const EdgeIndex out_of(edges_, accepts_.size(), [&](const Edge& edge) {
      return is_kept(edge) && is_of_kind(edge) ? edge.from : kNoCall;
    });
    lists.firsts.push_back(0);
    for (size_t state = 0; state < accepts_.size(); ++state) {
      for (const uint32_t edge : out_of.of(static_cast<StateId>(state))) {
        lists.items.push_back(made(edges_[edge]));
      }
      lists.firsts.push_back(static_cast<uint32_t>(lists.items.size()));
    }
  };
  list(
      automaton.empties_, [](const Edge& edge) { return edge.empty; },
      [](const Edge& edge) { return edge.target; });
  list(
      automaton.calls_, [](const Edge& edge) { return edge.start != kNoCall; },
      [](const Edge& edge) { return Automaton::Call{edge.start, edge.target}; });
  list(
      automaton.bytes_, [](const Edge& edge) { return !edge.empty && edge.start == kNoCall; },
      [](const Edge& edge) { return Automaton::ByteEdge{edge.first, edge.last, edge.target}; });

  std::array<bool, 257> begins{true};
  for (const Automaton::ByteEdge& edge : automaton.bytes_.items) {
    begins[edge.first] = true;
    begins[edge.last + size_t{1}] = true;
  }
  for (size_t byte = 0; byte < automaton.class_of_.size(); ++byte) {
    if (begins[byte]) {
      automaton.members_.push_back(static_cast<uint8_t>(byte));
      automaton.counts_.push_back(0);
    }
    automaton.class_of_[byte] = static_cast<uint8_t>(automaton.members_.size() - 1);
    ++automaton.counts_.back();
  }
  return automaton;
}

}  // namespace mynah::grammar
