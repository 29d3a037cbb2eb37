#include "talk/tools/mcp/server_tools.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mynah::talk {

namespace {

class McpTool final : public Tool {
 public:
  McpTool(ToolFacts facts, std::shared_ptr<McpSession> session)
      : facts_(std::move(facts)), session_(std::move(session)) {}

  [[nodiscard]] const ToolFacts& facts() const override { return facts_; }

  [[nodiscard]] Result<std::string> run(const ToolJson& arguments, const ToolRun& run) override {
    auto answer = session_->call(facts_.name, arguments, run);
    if (!answer && answer.error().code == ErrorCode::Environment) {
      return std::unexpected(std::move(answer).error().while_doing(facts_.origin));
    }
    return answer;
  }

 private:
  ToolFacts facts_;
  std::shared_ptr<McpSession> session_;
};

}  // namespace

bool McpServerTools::connect(const std::stop_token& stop, std::vector<std::string>& notes) {
  constexpr int kMostStarts = 4;
  if (session_) {
    const Status there = session_->alive();
    if (there) {
      return true;
    }
    notes.push_back(fmt::format("MCP server {}: {}", entry_.name, there.error().message));
    session_.reset();
    tools_.clear();
  }
  if (starts_ == kMostStarts) {
    return false;
  }
  ++starts_;
  std::unique_ptr<McpTransport> transport;
  if (entry_.command) {
    transport = std::make_unique<ChildTransport>(*entry_.command);
  } else {
    transport = std::make_unique<HttpTransport>(*entry_.address);
  }
  auto opened = McpSession::open(std::move(transport), entry_.patience, stop);
  if (!opened) {
    if (opened.error().code != ErrorCode::Cancelled) {
      notes.push_back(fmt::format("MCP server {}: {}{}", entry_.name, opened.error().message,
                                  starts_ == kMostStarts ? "; it is not tried again" : ""));
    }
    return false;
  }
  session_ = *std::move(opened);
  return list(stop, notes);
}

bool McpServerTools::list(const std::stop_token& stop, std::vector<std::string>& notes) {
  std::vector<std::string> about;
  const auto listed = session_->list_tools(stop, about);
  for (const std::string& note : about) {
    notes.push_back(fmt::format("MCP server {}: {}", entry_.name, note));
  }
  if (!listed) {
    notes.push_back(fmt::format("MCP server {}: {}", entry_.name, listed.error().message));
    return false;
  }
  tools_.clear();
  for (const McpToolFacts& facts : *listed) {
    if (entry_.offered.empty() ||
        std::ranges::find(entry_.offered, facts.name) != entry_.offered.end()) {
      add(facts, notes);
    }
  }
  return true;
}

void McpServerTools::add(const McpToolFacts& facts, std::vector<std::string>& notes) {
  auto marks = entry_.marks.find(facts.name);
  if (marks == entry_.marks.end()) {
    marks = entry_.marks.find("*");
  }
  const bool is_marked = marks != entry_.marks.end();
  // What the user said was said of the tool that he saw.
  const auto& [first, is_new] = first_seen_.emplace(facts.name, facts);
  const bool is_another = !is_new && first->second != facts;
  if (is_another && is_marked) {
    notes.push_back(
        fmt::format("MCP server {}: {} is not what it was when it was listed first: what the file "
                    "of tools says of it is not heeded",
                    entry_.name, facts.name));
  }
  const bool is_heeded = is_marked && !is_another;
  tools_.push_back(std::make_shared<McpTool>(
      ToolFacts{.name = facts.name,
                .description = facts.description,
                .parameters = facts.schema,
                .origin = fmt::format("MCP server {}", entry_.name),
                .changes = is_heeded ? marks->second.changes.value_or(true) : true,
                .may_leave = is_heeded && marks->second.may_leave.value_or(false)},
      session_));
}

std::vector<std::shared_ptr<Tool>> McpServerTools::tools(const std::stop_token& stop,
                                                         std::vector<std::string>& notes) {
  const bool was_there = session_ != nullptr && session_->alive();
  if (!connect(stop, notes)) {
    return {};
  }
  if (was_there && session_->take_changed() && !list(stop, notes)) {
    return {};
  }
  return tools_;
}

}  // namespace mynah::talk
