#include "talk/tools/tool_box.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/nearest_name.h"
#include "formats/json.h"

namespace mynah::talk {

namespace {

// Of a function, as OpenAI's API and most chat templates take it.
constexpr size_t kMostName = 64;

std::string callable_name(std::string_view name) {
  std::string callable;
  for (const char c : name.substr(0, kMostName)) {
    const auto code = static_cast<unsigned char>(c);
    callable += is_ascii_alnum(code) || c == '_' || c == '-' ? c : '_';
  }
  return callable.empty() ? "tool" : callable;
}

CallAnswer not_run(std::string why) {
  return {.text = fmt::format("error: {}", why), .ran = false, .why = std::move(why)};
}

}  // namespace

void ToolBox::add(std::shared_ptr<Tool> tool) {
  own_.push_back(tool);
  name_tool(std::move(tool), "mynah");
}

void ToolBox::add(std::unique_ptr<ToolSource> source) {
  sources_.push_back(std::move(source));
}

void ToolBox::name_tool(std::shared_ptr<Tool> tool, std::string_view source) {
  std::string name = callable_name(tool->facts().name);
  if (find(name) != nullptr) {
    name = callable_name(fmt::format("{}_{}", source, tool->facts().name));
  }
  for (int number = 2; find(name) != nullptr; ++number) {
    const std::string ending = fmt::format("_{}", number);
    name = callable_name(tool->facts().name).substr(0, kMostName - ending.size()) + ending;
  }
  named_.push_back({.name = std::move(name), .tool = std::move(tool)});
}

std::vector<std::string> ToolBox::refresh(const std::stop_token& stop) {
  std::vector<std::string> notes;
  named_.clear();
  for (const auto& tool : own_) {
    name_tool(tool, "mynah");
  }

  // Side by side: each may have to start a program or to wait for another machine.
  struct Listed {
    std::vector<std::shared_ptr<Tool>> tools;
    std::vector<std::string> notes;
  };

  std::vector<Listed> all(sources_.size());
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < sources_.size(); ++i) {
      others.emplace_back([&, i] { all[i].tools = sources_[i]->tools(stop, all[i].notes); });
    }
    if (!sources_.empty()) {
      all.front().tools = sources_.front()->tools(stop, all.front().notes);
    }
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    std::ranges::move(all[i].notes, std::back_inserter(notes));
    for (auto& tool : all[i].tools) {
      name_tool(std::move(tool), sources_[i]->name());
    }
  }
  return notes;
}

Tool* ToolBox::find(std::string_view name) const {
  const auto found = std::ranges::find(named_, name, &Named::name);
  return found == named_.end() ? nullptr : found->tool.get();
}

ToolJson ToolBox::offered(ModelPlace place) const {
  ToolJson tools = ToolJson::array();
  for (const Named& named : named_) {
    const ToolFacts& facts = named.tool->facts();
    if (place == ModelPlace::Here || facts.may_leave) {
      ToolJson function = facts.told;
      if (function.is_null()) {
        function = {{"name", named.name},
                    {"description", facts.description},
                    {"parameters", facts.parameters}};
      }
      function["name"] = named.name;
      tools.push_back({{"type", "function"}, {"function", std::move(function)}});
    }
  }
  return tools;
}

Result<CallAnswer> ToolBox::call(const ToolCall& call, ModelPlace place, Confirm& confirm,
                                 const ToolRun& run) {
  Tool* const tool = find(call.name);
  if (tool == nullptr) {
    std::vector<std::string> names;
    std::ranges::transform(named_, std::back_inserter(names), &Named::name);
    return not_run(fmt::format("there is no tool {}{}", call.name, suggestion(call.name, names)));
  }
  const ToolFacts& facts = tool->facts();
  if (place == ModelPlace::Elsewhere && !facts.may_leave) {
    return not_run(fmt::format(
        "what {} answers may not leave this machine, and the language model is on another",
        call.name));
  }
  if (!call.valid) {
    return not_run("the arguments are no JSON object");
  }
  MYNAH_TRY(const ToolJson arguments, parse_ordered_json(call.arguments, call.name));
  if (facts.changes) {
    MYNAH_TRY(
        const Confirm::Answer answer,
        confirm.ask({.tool = call.name, .origin = facts.origin, .shown = tool->shown(arguments)},
                    run.stop));
    if (answer == Confirm::Answer::No) {
      return not_run("the user does not let this run");
    }
    if (answer == Confirm::Answer::Nobody) {
      return not_run(fmt::format(
          "{} changes something, which a key must let it do, and nobody is here to press one",
          call.name));
    }
  }
  auto answered = tool->run(arguments, run);
  if (!answered && answered.error().code == ErrorCode::Cancelled) {
    return std::unexpected(std::move(answered).error());
  }
  return CallAnswer{.text = bounded_answer(
                        answered ? *answered : fmt::format("error: {}", answered.error().message),
                        run.most_bytes),
                    .ran = true};
}

}  // namespace mynah::talk
