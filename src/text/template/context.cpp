// The context as values, and a rendering from its begin to its end.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "text/template/builtins.h"
#include "text/template/renderer.h"
#include "text/template/template.h"
#include "text/utf8.h"

namespace mynah::jinja {

Renderer::Renderer(const TemplateTree& tree, const RenderOptions& options)
    : tree_(tree), options_(options), heap_(options.limits) {}

std::tm Renderer::now() const {
  return options_.now();
}

Value Renderer::given_text(std::string_view text, bool given) {
  given = given && std::ranges::find(options_.own_words, text) == options_.own_words.end();
  return heap_.text(MarkedText(replace_invalid_utf8(text), given));
}

TemplateResult<Value> Renderer::from_json(const nlohmann::ordered_json& json, bool given) {
  const Level level(*this);
  heap_.charge(1);
  MYNAH_TRY_STATUS(level.check());
  using Kind = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Kind::null:
      return Value::none();
    case Kind::boolean:
      return Value::boolean(json.get<bool>());
    case Kind::number_integer:
      return Value::integer(json.get<int64_t>());
    case Kind::number_unsigned:
      return Value::integer(static_cast<Integer>(json.get<uint64_t>()));
    case Kind::number_float:
      return Value::real(json.get<double>());
    case Kind::string:
      return given_text(json.get_ref<const std::string&>(), given);
    case Kind::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const auto& one : json) {
        MYNAH_TRY(Value value, from_json(one, given));
        items.push_back(std::move(value));
      }
      return heap_.list(std::move(items));
    }
    case Kind::object: {
      auto dict = heap_.make<Dict>();
      for (const auto& [key, one] : json.items()) {
        MYNAH_TRY(Value value, from_json(one, given));
        dict->set(given_text(key, given), std::move(value));
      }
      return Value::object(std::move(dict));
    }
    default:
      break;
  }
  return fault("the context has a value that is not of JSON");
}

TemplateResult<std::vector<TemplatePiece>> Renderer::run(const nlohmann::ordered_json& context) {
  const ScopeRef globals = heap_.make<Scope>();
  for (Symbol symbol = 0; symbol < tree_.names.size(); ++symbol) {
    const std::string& name = tree_.names[symbol];
    const bool is_own = options_.own.is_object() && options_.own.contains(name);
    if (is_own || (context.is_object() && context.contains(name))) {
      MYNAH_TRY(Value value,
                is_own ? from_json(options_.own[name], false) : from_json(context[name], true));
      globals->variables.emplace_back(symbol, std::move(value));
    } else if (const BuiltinFunction function = find_global(name)) {
      auto builtin = heap_.make<Builtin>();
      builtin->function = function;
      globals->variables.emplace_back(symbol, Value::object(std::move(builtin)));
    }
  }
  MarkedText out;
  MYNAH_TRY_STATUS(execute(tree_.body, inner_scope(globals), out));
  std::vector<TemplatePiece> pieces;
  out.each_run([&](std::string_view run, bool given) {
    pieces.push_back({.text = std::string(run), .given = given});
  });
  return pieces;
}

}  // namespace mynah::jinja
