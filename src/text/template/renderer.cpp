#include "text/template/renderer.h"

#include <algorithm>

#include <fmt/format.h>

namespace mynah::jinja {

Value* Scope::find(Symbol symbol) {
  const auto place = std::ranges::find(variables, symbol, &std::pair<Symbol, Value>::first);
  return place == variables.end() ? nullptr : &place->second;
}

void Scope::set(Symbol symbol, Value value) {
  if (Value* old = find(symbol)) {
    *old = std::move(value);
  } else {
    variables.emplace_back(symbol, std::move(value));
  }
}

void Loop::forget() {
  scope.reset();
  values.clear();
  ready.clear();
  previous = Value();
  current = Value();
  watched.reset();
}

TemplateResult<void> Renderer::Level::check() const {
  if (renderer_.depth_ > renderer_.heap_.limits().depth) {
    return over_limit(fmt::format(
        "rendering goes more than {} deep: values, expressions or macros within each other",
        renderer_.heap_.limits().depth));
  }
  return renderer_.heap_.check();
}

ScopeRef Renderer::inner_scope(const ScopeRef& scope) {
  auto inner = heap_.make<Scope>();
  inner->parent = scope;
  return inner;
}

TemplateResult<void> Renderer::write(const MarkedText& text, MarkedText& out) {
  heap_.charge_bytes(text.size());
  if (text.size() > heap_.limits().output_bytes - std::min(written_, heap_.limits().output_bytes)) {
    return over_limit(
        fmt::format("rendering writes more than {} bytes", heap_.limits().output_bytes));
  }
  written_ += text.size();
  out.append(text);
  return {};
}

TemplateResult<Value> Renderer::captured(const Body& body, const ScopeRef& scope) {
  MarkedText text;
  MYNAH_TRY_STATUS(execute(body, scope, text));
  written_ -= text.size();
  return heap_.text(std::move(text));
}

TemplateResult<Renderer::Flow> Renderer::execute(const Body& body, const ScopeRef& scope,
                                                 MarkedText& out) {
  for (const Statement& statement : body) {
    MYNAH_TRY(const Flow flow, execute(statement, scope, out));
    if (flow != Flow::Next) {
      return flow;
    }
  }
  return Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::execute(const Statement& statement, const ScopeRef& scope,
                                                 MarkedText& out) {
  const Level level(*this);
  heap_.charge(1);
  auto flow = std::visit(
      [&](const auto& node) -> TemplateResult<Flow> {
        MYNAH_TRY_STATUS(level.check());
        return execute(node, scope, out);
      },
      statement.node);
  if (!flow && flow.error().line == 0) {
    flow.error().line = statement.line;
  }
  return flow;
}

TemplateResult<Renderer::Flow> Renderer::execute(const Data& data, const ScopeRef& /*scope*/,
                                                 MarkedText& out) {
  MYNAH_TRY_STATUS(write(*data.text.as_text(), out));
  return Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::execute(const Output& output, const ScopeRef& scope,
                                                 MarkedText& out) {
  MYNAH_TRY(const Value value, evaluate(*output.value, scope));
  if (const MarkedText* text = value.as_text()) {
    MYNAH_TRY_STATUS(write(*text, out));
  } else {
    MYNAH_TRY(const MarkedText shown, str(value));
    MYNAH_TRY_STATUS(write(shown, out));
  }
  return Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::execute(const If& branches, const ScopeRef& scope,
                                                 MarkedText& out) {
  for (const If::Branch& branch : branches.branches) {
    bool taken = branch.test == nullptr;
    if (!taken) {
      MYNAH_TRY(const Value test, evaluate(*branch.test, scope));
      taken = truth(test);
    }
    if (taken) {
      return execute(branch.body, scope, out);
    }
  }
  return Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::execute(const For& loop, const ScopeRef& scope,
                                                 MarkedText& out) {
  MYNAH_TRY(const Value values, evaluate(*loop.values, scope));
  return run_loop(loop, values, scope, 1, out);
}

TemplateResult<Renderer::Flow> Renderer::run_loop(const For& loop, const Value& values,
                                                  const ScopeRef& scope, size_t depth,
                                                  MarkedText& out) {
  auto state = heap_.make<Loop>();
  state->statement = &loop;
  state->scope = scope;
  state->depth = depth;
  MYNAH_TRY(state->values, iterate(values));
  state->held.grow(state->values.size() * sizeof(Value));
  const Value state_value = Value::object(state);
  ScopeRef inner = inner_scope(scope);
  bool is_first = true;
  while (true) {
    MYNAH_TRY_STATUS(look_ahead(*state, 1));
    if (state->ready.empty()) {
      break;
    }
    state->index0 += is_first ? 0 : 1;
    state->previous = is_first ? Value::undefined("there is no previous item")
                               : std::exchange(state->current, Value());
    state->current = std::move(state->ready.front());
    state->ready.pop_front();
    is_first = false;
    MYNAH_TRY(const Flow flow, run_iteration(loop, state->current, state_value, inner, out));
    if (flow == Flow::Break) {
      break;
    }
  }
  return is_first ? execute(loop.otherwise, inner_scope(scope), out) : Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::run_iteration(const For& loop, const Value& value,
                                                       const Value& state, ScopeRef& inner,
                                                       MarkedText& out) {
  // The names of an iteration are its own; a scope that a macro has kept is not used again.
  if (inner.use_count() > 1) {
    inner = inner_scope(inner->parent);
  }
  inner->variables.clear();
  inner->set(kLoop, state);
  MYNAH_TRY_STATUS(bind(loop.target, value, inner));
  return execute(loop.body, inner, out);
}

TemplateResult<Renderer::Flow> Renderer::execute(const Break& /*jump*/, const ScopeRef& /*scope*/,
                                                 MarkedText& /*out*/) {
  return Flow::Break;
}

TemplateResult<Renderer::Flow> Renderer::execute(const Continue& /*jump*/,
                                                 const ScopeRef& /*scope*/, MarkedText& /*out*/) {
  return Flow::Continue;
}

TemplateResult<void> Renderer::bind(const Target& target, const Value& value,
                                    const ScopeRef& scope) {
  if (target.is_tuple) {
    MYNAH_TRY(const std::vector<Value> parts, iterate(value));
    if (parts.size() != target.parts.size()) {
      return fault(
          fmt::format("{} values are wanted, there are {}", target.parts.size(), parts.size()));
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      MYNAH_TRY_STATUS(bind(target.parts[i], parts[i], scope));
    }
    return {};
  }
  if (target.attribute.empty()) {
    scope->set(target.symbol, value);
    return {};
  }
  MYNAH_TRY(const Value owner, evaluate(Name{target.symbol}, scope));
  auto* names = owner.as<Namespace>();
  if (names == nullptr) {
    return fault(fmt::format("'{}' is no namespace, so that '{}' of it cannot be set",
                             tree_.names[target.symbol], target.attribute));
  }
  names->set(target.attribute, value);
  return {};
}

TemplateResult<Renderer::Flow> Renderer::execute(const Set& set, const ScopeRef& scope,
                                                 MarkedText& /*out*/) {
  MYNAH_TRY(const Value value, evaluate(*set.value, scope));
  MYNAH_TRY_STATUS(bind(set.target, value, scope));
  return Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::execute(const SetBlock& set, const ScopeRef& scope,
                                                 MarkedText& /*out*/) {
  MYNAH_TRY(Value value, captured(set.body, inner_scope(scope)));
  if (set.filter != nullptr) {
    block_text_ = std::move(value);
    MYNAH_TRY(value, evaluate(*set.filter, scope));
  }
  MYNAH_TRY_STATUS(bind(set.target, value, scope));
  return Flow::Next;
}

Value Renderer::macro_value(const std::shared_ptr<const MacroDefinition>& definition,
                            const ScopeRef& scope) {
  auto macro = heap_.make<MacroFunction>();
  macro->definition = definition;
  macro->scope = scope;
  // It stands in the scope that it refers to.
  heap_.keep(macro);
  return Value::object(std::move(macro));
}

TemplateResult<Renderer::Flow> Renderer::execute(const Macro& macro, const ScopeRef& scope,
                                                 MarkedText& /*out*/) {
  scope->set(macro.symbol, macro_value(macro.definition, scope));
  return Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::execute(const CallBlock& block, const ScopeRef& scope,
                                                 MarkedText& out) {
  const auto& call_node = std::get<Call>(block.call->node);
  MYNAH_TRY(const Value callee, evaluate(*call_node.callee, scope));
  MYNAH_TRY(Arguments given, arguments(call_node.arguments, scope));
  given.named.emplace_back("caller", macro_value(block.caller, scope));
  MYNAH_TRY(const Value value, call(callee, std::move(given)));
  MYNAH_TRY(const MarkedText text, str(value));
  MYNAH_TRY_STATUS(write(text, out));
  return Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::execute(const FilterBlock& block, const ScopeRef& scope,
                                                 MarkedText& out) {
  MYNAH_TRY(block_text_, captured(block.body, inner_scope(scope)));
  MYNAH_TRY(const Value value, evaluate(*block.filter, scope));
  MYNAH_TRY(const MarkedText text, str(value));
  MYNAH_TRY_STATUS(write(text, out));
  return Flow::Next;
}

TemplateResult<Renderer::Flow> Renderer::execute(const With& with, const ScopeRef& scope,
                                                 MarkedText& out) {
  const ScopeRef inner = inner_scope(scope);
  for (const auto& [target, value] : with.bindings) {
    MYNAH_TRY(const Value bound, evaluate(*value, scope));
    MYNAH_TRY_STATUS(bind(target, bound, inner));
  }
  return execute(with.body, inner, out);
}

}  // namespace mynah::jinja
