// The syntax tree of a template.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/template/value.h"

namespace mynah::jinja {

using Symbol = uint32_t;  // a name of a variable, by its place in TemplateTree::names

// Names that the language itself binds: first in each TemplateTree::names.
inline constexpr std::array<std::string_view, 4> kBoundNames = {"loop", "caller", "varargs",
                                                                "kwargs"};
inline constexpr Symbol kLoop = 0;
inline constexpr Symbol kCaller = 1;
inline constexpr Symbol kVarargs = 2;
inline constexpr Symbol kKwargs = 3;

struct Expression;
using ExpressionRef = std::unique_ptr<Expression>;

struct CallArguments {
  std::vector<ExpressionRef> positional;
  std::vector<std::pair<std::string, ExpressionRef>> named;
  ExpressionRef spread;        // *values
  ExpressionRef named_spread;  // **values
};

struct Literal {
  Value value;
};

struct Name {
  Symbol symbol;
};

struct Sequence {
  std::vector<ExpressionRef> items;
  bool tuple = false;
};

struct Mapping {
  std::vector<std::pair<ExpressionRef, ExpressionRef>> entries;
};

struct Attribute {
  ExpressionRef object;
  std::string name;
};

struct Item {
  ExpressionRef object;
  ExpressionRef index;
};

// Of an item: [begin:end:step], each may be null.
struct Slice {
  ExpressionRef object;
  ExpressionRef begin;
  ExpressionRef end;
  ExpressionRef step;
};

struct Call {
  ExpressionRef callee;
  CallArguments arguments;
};

// operand | name(arguments). Without a function where there is no such filter: an error if it is
// come to, as a template may ask first.
struct Filter {
  ExpressionRef operand;  // null: the text of the block that it stands at
  std::string name;
  BuiltinFunction function;
  CallArguments arguments;
};

// operand is name(arguments); without a function as a filter is.
struct Test {
  ExpressionRef operand;
  std::string name;
  BuiltinFunction function;
  CallArguments arguments;
};

enum class UnaryOperator : uint8_t { Not, Minus, Plus };

struct Unary {
  UnaryOperator operation;
  ExpressionRef operand;
};

enum class BinaryOperator : uint8_t {
  And,
  Or,
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Modulo,
  Power
};

struct Binary {
  BinaryOperator operation;
  ExpressionRef left;
  ExpressionRef right;
};

// a ~ b ~ c
struct Concatenation {
  std::vector<ExpressionRef> parts;
};

enum class Comparator : uint8_t {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn
};

// a < b <= c, as Python chains them.
struct Comparison {
  ExpressionRef first;
  std::vector<std::pair<Comparator, ExpressionRef>> rest;
};

struct Conditional {
  ExpressionRef test;
  ExpressionRef yes;
  ExpressionRef no;  // null: undefined
};

struct Expression {
  std::variant<Literal, Name, Sequence, Mapping, Attribute, Item, Slice, Call, Filter, Test, Unary,
               Binary, Concatenation, Comparison, Conditional>
      node;
  size_t line = 0;
  size_t height = 1;  // of the tree below, itself included
};

struct Statement;
using Body = std::vector<Statement>;

// What a value is bound to: a name, an attribute of a namespace, or several of them.
struct Target {
  Symbol symbol = 0;
  std::string attribute{};      // "": the name itself
  std::vector<Target> parts{};  // not empty: the value is taken apart
  bool is_tuple = false;
};

struct Data {
  Value text;
};

struct Output {
  ExpressionRef value;
};

struct If {
  // A branch without a test is the last, the else.
  struct Branch {
    ExpressionRef test;
    Body body;
  };

  std::vector<Branch> branches;
};

struct For {
  Target target;
  ExpressionRef values;
  ExpressionRef test;  // null: all of them
  Body body;
  Body otherwise;
  bool recursive = false;
};

struct Break {};

struct Continue {};

struct Set {
  Target target;
  ExpressionRef value;
};

struct SetBlock {
  Target target;
  ExpressionRef filter;  // null: none
  Body body;
};

struct MacroDefinition {
  std::string name;
  std::vector<std::pair<Symbol, ExpressionRef>> parameters;  // with their defaults, or null
  Body body;
  bool takes_caller = false;  // its body names caller, varargs, kwargs
  bool takes_positional = false;
  bool takes_named = false;
};

struct Macro {
  Symbol symbol;
  std::shared_ptr<const MacroDefinition> definition;
};

// {% call(...) callee(...) %}: `caller` is a macro without a name.
struct CallBlock {
  ExpressionRef call;
  std::shared_ptr<const MacroDefinition> caller;
};

struct FilterBlock {
  ExpressionRef filter;
  Body body;
};

// {% with %}, and {% generation %}, which marks what a model is trained on and renders as its body.
struct With {
  std::vector<std::pair<Target, ExpressionRef>> bindings;
  Body body;
};

struct Statement {
  std::variant<Data, Output, If, For, Break, Continue, Set, SetBlock, Macro, CallBlock, FilterBlock,
               With>
      node;
  size_t line = 0;
};

}  // namespace mynah::jinja

namespace mynah {

// What Template::parse makes.
struct TemplateTree {
  jinja::Body body;
  std::vector<std::string> names;
};

}  // namespace mynah
