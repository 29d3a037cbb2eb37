// Renderer: one rendering of a template, by walking its tree.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/template/heap.h"
#include "text/template/syntax.h"

namespace mynah {

struct RenderOptions;  // text/template/template.h
struct TemplatePiece;

}  // namespace mynah

namespace mynah::jinja {

// Names of a block, with those of the blocks around it.
struct Scope : Object {
  using Object::Object;

  void forget() override {
    variables.clear();
    parent.reset();
  }

  std::shared_ptr<Scope> parent;
  std::vector<std::pair<Symbol, Value>> variables;

  [[nodiscard]] Value* find(Symbol symbol);
  void set(Symbol symbol, Value value);
};

using ScopeRef = std::shared_ptr<Scope>;

// A macro with the scope in which it was defined.
struct MacroFunction : Object {
  using Object::Object;

  void forget() override { scope.reset(); }

  std::shared_ptr<const MacroDefinition> definition;
  ScopeRef scope;
};

// The `loop` of a for statement. Values are looked at no earlier than asked for, as a condition may
// depend on what the loop's body did.
struct Loop : Object {
  using Object::Object;

  void forget() override;

  const For* statement = nullptr;
  ScopeRef scope;             // around the statement
  std::vector<Value> values;  // all
  size_t next = 0;            // of `values`, to be looked at
  std::deque<Value> ready;    // that fit and are to come
  size_t index0 = 0;          // of the current one, among those that fit
  size_t depth = 1;
  Value previous;
  Value current;
  std::optional<std::vector<Value>> watched;  // by loop.changed
};

class Renderer {
 public:
  Renderer(const TemplateTree& tree, const RenderOptions& options);
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  [[nodiscard]] TemplateResult<std::vector<TemplatePiece>> run(
      const nlohmann::ordered_json& context);

  // What builtins are made of.
  [[nodiscard]] Heap& heap() { return heap_; }

  [[nodiscard]] std::tm now() const;

  // Python's str() and repr().
  [[nodiscard]] TemplateResult<MarkedText> str(const Value& value);
  [[nodiscard]] TemplateResult<MarkedText> repr(const Value& value);

  // What iterating over a value yields; a generator is empty then.
  [[nodiscard]] TemplateResult<std::vector<Value>> iterate(const Value& value);
  // jinja2's environment.getattr and getitem: value.name and value[key].
  [[nodiscard]] TemplateResult<Value> attribute(const Value& value, std::string_view name);
  [[nodiscard]] TemplateResult<Value> item(const Value& value, const Value& key);
  [[nodiscard]] TemplateResult<Value> call(const Value& callee, Arguments arguments);
  // Of numbers, texts, lists and tuples.
  [[nodiscard]] TemplateResult<std::partial_ordering> compare(const Value& left,
                                                              const Value& right);
  [[nodiscard]] TemplateResult<Value> binary(BinaryOperator operation, const Value& left,
                                             const Value& right);
  [[nodiscard]] TemplateResult<bool> contains(const Value& container, const Value& value);

  // A level deeper for as long as it lives; Limit where that is too deep.
  class Level {
   public:
    explicit Level(Renderer& renderer) : renderer_(renderer) { ++renderer_.depth_; }

    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

    ~Level() { --renderer_.depth_; }

    [[nodiscard]] TemplateResult<void> check() const;

   private:
    Renderer& renderer_;
  };

 private:
  enum class Flow : uint8_t { Next, Break, Continue };

  // Statements: renderer.cpp
  TemplateResult<Flow> execute(const Body& body, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const Statement& statement, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const Data& data, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const Output& output, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const If& branches, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const For& loop, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const Break& jump, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const Continue& jump, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const Set& set, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const SetBlock& set, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const Macro& macro, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const CallBlock& block, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const FilterBlock& block, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> execute(const With& with, const ScopeRef& scope, MarkedText& out);
  TemplateResult<Flow> run_loop(const For& loop, const Value& values, const ScopeRef& scope,
                                size_t depth, MarkedText& out);
  TemplateResult<Flow> run_iteration(const For& loop, const Value& value, const Value& state,
                                     ScopeRef& inner, MarkedText& out);
  TemplateResult<void> bind(const Target& target, const Value& value, const ScopeRef& scope);
  TemplateResult<void> write(const MarkedText& text, MarkedText& out);
  // What a body writes, as a value.
  TemplateResult<Value> captured(const Body& body, const ScopeRef& scope);
  ScopeRef inner_scope(const ScopeRef& scope);
  Value macro_value(const std::shared_ptr<const MacroDefinition>& definition,
                    const ScopeRef& scope);

  // Calls: calls.cpp
  TemplateResult<Arguments> arguments(const CallArguments& given, const ScopeRef& scope);
  TemplateResult<Value> call_macro(const MacroFunction& macro, Arguments arguments);
  TemplateResult<Value> loop_attribute(Loop& loop, std::string_view name);
  // The values that a loop has still to come to: at least `count`, if it has so many.
  TemplateResult<void> look_ahead(Loop& loop, size_t count);

  // Expressions: evaluate.cpp
  TemplateResult<Value> evaluate(const Expression& expression, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Literal& literal, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Name& name, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Sequence& sequence, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Mapping& mapping, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Attribute& attribute, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Item& item, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Slice& slice, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Call& call, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Filter& filter, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Test& test, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Unary& unary, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Binary& binary, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Concatenation& concatenation, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Comparison& comparison, const ScopeRef& scope);
  TemplateResult<Value> evaluate(const Conditional& conditional, const ScopeRef& scope);
  TemplateResult<bool> holds(Comparator comparator, const Value& left, const Value& right);

  // The context: context.cpp
  TemplateResult<Value> from_json(const nlohmann::ordered_json& json, bool given);
  Value given_text(std::string_view text, bool given);

  const TemplateTree& tree_;
  const RenderOptions& options_;
  Heap heap_;  // outlives all values
  size_t depth_ = 0;
  size_t written_ = 0;  // bytes of what bodies have written and is not yet a value
  Value block_text_;    // what the filter of a block is applied to
};

}  // namespace mynah::jinja
