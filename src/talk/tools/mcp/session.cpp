#include "talk/tools/mcp/session.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "engine/version.h"
#include "text/utf8.h"

namespace mynah::talk {

namespace {

constexpr std::array<std::string_view, 3> kRevisions = {"2025-06-18", "2025-03-26", "2024-11-05"};
constexpr int kMethodNotFound = -32601;  // JSON-RPC 2.0, "Error object"
constexpr int64_t kNoMethod = kMethodNotFound;

// The beginning of a text of a server, for a message.
std::string quoted_of_server(std::string_view text) {
  constexpr size_t kMost = 500;
  std::string_view begun = text.substr(0, kMost);
  begun.remove_suffix(text.size() > kMost ? incomplete_utf8_tail(begun) : 0);
  return replace_invalid_utf8(begun);
}

// What a part of an answer is that is no text.
std::string named_part(const ToolJson& part) {
  const std::string type = mcp_text(part, "type");
  if (type == "resource_link") {
    return fmt::format("[a link: {} {}]", mcp_text(part, "name"), mcp_text(part, "uri"));
  }
  if (type == "resource" && part.contains("resource")) {
    const ToolJson& resource = part["resource"];
    const std::string text = mcp_text(resource, "text");
    return text.empty() ? fmt::format("[a resource that is no text: {} {}]",
                                      mcp_text(resource, "uri"), mcp_text(resource, "mimeType"))
                        : text;
  }
  if (type == "image" || type == "audio") {
    constexpr size_t kBase64Bytes = 4;  // for three
    return fmt::format("[{} that cannot be told in words: {}, {} bytes]",
                       type == "image" ? "a picture" : "a sound", mcp_text(part, "mimeType"),
                       mcp_text(part, "data").size() / kBase64Bytes * 3);
  }
  return fmt::format("[something that cannot be told in words: {}]",
                     quoted_of_server(type.empty() ? "of no type" : type));
}

}  // namespace

std::string mcp_content_text(const ToolJson& result) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    text += text.empty() || text.ends_with('\n') ? "" : "\n";
    text += part;
  };
  const auto content = result.is_object() ? result.find("content") : result.end();
  if (result.is_object() && content != result.end() && content->is_array()) {
    for (const ToolJson& part : *content) {
      add(mcp_text(part, "type") == "text" ? mcp_text(part, "text") : named_part(part));
    }
  }
  if (text.empty() && result.is_object() && result.contains("structuredContent")) {
    text = result["structuredContent"].dump(-1, ' ', false, ToolJson::error_handler_t::replace);
  }
  return text;
}

McpSession::McpSession(std::unique_ptr<McpTransport> transport, McpPatience patience)
    : patience_(patience), transport_(std::move(transport)) {}

McpSession::~McpSession() {
  transport_->close();
}

Result<std::shared_ptr<McpSession>> McpSession::open(std::unique_ptr<McpTransport> transport,
                                                     McpPatience patience,
                                                     const std::stop_token& stop) {
  std::shared_ptr<McpSession> session(new McpSession(std::move(transport), patience));
  McpSession* const self = session.get();
  MYNAH_TRY_STATUS(self->transport_->start([self](std::string_view text) { self->take(text); }));
  MYNAH_TRY_STATUS(self->greet(stop));
  return session;
}

Status McpSession::greet(const std::stop_token& stop) {
  const ToolJson params = {
      {"protocolVersion", std::string(kRevisions.front())},
      {"capabilities", ToolJson::object()},
      {"clientInfo",
       {{"name", "mynah"}, {"version", std::string(engine::program_version().version)}}}};
  MYNAH_TRY(const ToolJson result, request_of_session("initialize", params,
                                                      {.patience = patience_.greeting,
                                                       .longest = patience_.greeting,
                                                       .stop = stop,
                                                       .may_cancel = false}));
  const std::string revision = mcp_text(result, "protocolVersion");
  if (std::ranges::find(kRevisions, revision) == kRevisions.end()) {
    return fail(
        ErrorCode::Environment,
        fmt::format("the server speaks revision '{}' of the protocol, wanted one of {}, {} "
                    "and {}",
                    quoted_of_server(revision), kRevisions[0], kRevisions[1], kRevisions[2]));
  }
  revision_ = revision;
  const auto capabilities = result.find("capabilities");
  has_tools_ =
      capabilities != result.end() && capabilities->is_object() && capabilities->contains("tools");
  // Servers before 2025-06-18 know no header of it.
  transport_->on_agreed(revision == kRevisions.front() ? revision : std::string());
  return transport_->send({.text = mcp_notification("notifications/initialized", nullptr),
                           .is_over = {},
                           .deadline = {},
                           .stop = stop});
}

Result<ToolJson> McpSession::request(std::string_view method, const ToolJson& params,
                                     const Wish& wish) {
  auto result = request_of_session(method, params, wish);
  if (!result && result.error().code == ErrorCode::NotFound) {
    MYNAH_TRY_STATUS(greet(wish.stop));
    return request_of_session(method, params, wish);
  }
  return result;
}

Result<ToolJson> McpSession::request_of_session(std::string_view method, const ToolJson& params,
                                                const Wish& wish) {
  const auto pending = std::make_shared<Pending>();
  pending->patience = wish.patience;
  pending->deadline = Clock::now() + wish.patience;
  pending->last = Clock::now() + wish.longest;
  pending->on_progress = wish.on_progress;
  int64_t id = 0;
  {
    const std::scoped_lock lock(mutex_);
    id = ++last_id_;
    pending_[id] = pending;
  }
  ToolJson sent = params;
  if (wish.on_progress != nullptr) {
    sent["_meta"] = {{"progressToken", id}};
  }
  Status done = transport_->send({.text = mcp_request(id, method, std::move(sent)),
                                  .is_over =
                                      [this, &pending] {
                                        const std::scoped_lock lock(mutex_);
                                        return pending->is_over;
                                      },
                                  .deadline =
                                      [this, &pending] {
                                        const std::scoped_lock lock(mutex_);
                                        return pending->deadline;
                                      },
                                  .stop = wish.stop});
  if (done) {
    done = wait(*pending, wish);
  }
  {
    const std::scoped_lock lock(mutex_);
    pending_.erase(id);
    if (pending->is_over) {
      done = {};
    }
  }
  if (!done) {
    const bool has_left =
        done.error().code == ErrorCode::Cancelled || done.error().code == ErrorCode::Io;
    if (has_left && wish.may_cancel) {
      send_aside(mcp_notification("notifications/cancelled",
                                  {{"requestId", id}, {"reason", done.error().message}}));
    }
    return std::unexpected(std::move(done).error());
  }
  McpMessage& answer = pending->answer;
  if (answer.error) {
    return fail(answer.error->code == kNoMethod ? ErrorCode::Unsupported : ErrorCode::InvalidInput,
                fmt::format("the server refuses ({}): {}", answer.error->code,
                            quoted_of_server(answer.error->message)));
  }
  return std::move(answer.result);
}

Status McpSession::wait(Pending& pending, const Wish& wish) {
  constexpr std::chrono::milliseconds kLook{100};  // how soon it is seen that the server has gone
  std::unique_lock lock(mutex_);
  while (!pending.is_over) {
    if (wish.stop.stop_requested()) {
      return fail(ErrorCode::Cancelled, "stopped");
    }
    if (Clock::now() >= pending.deadline) {
      return fail(
          ErrorCode::Io,
          last_fault_.empty()
              ? std::string("no answer in time")
              : fmt::format("no answer in time; what came could not be read: {}", last_fault_));
    }
    lock.unlock();
    const Status there = transport_->alive();
    lock.lock();
    if (!there && !pending.is_over) {
      return there;
    }
    // A copy: what is waited for is read without the lock, and progress moves the deadline.
    const Clock::time_point until = std::min(pending.deadline, Clock::now() + kLook);
    woken_.wait_until(lock, wish.stop, until, [&] { return pending.is_over; });
  }
  return {};
}

void McpSession::take(std::string_view text) {
  auto messages = read_mcp_messages(text);
  if (!messages) {
    const std::scoped_lock lock(mutex_);
    last_fault_ = std::move(messages).error().message;
    return;
  }
  for (McpMessage& message : *messages) {
    take_message(std::move(message));
  }
}

void McpSession::take_message(McpMessage message) {
  if (message.is_request()) {
    send_aside(message.method == "ping"
                   ? mcp_answer(message.id, ToolJson::object())
                   : mcp_refusal(message.id, kMethodNotFound, "mynah does nothing for servers"));
    return;
  }
  const std::scoped_lock lock(mutex_);
  if (message.is_answer()) {
    // One that nobody asked for, or not any more, is none.
    const auto found =
        message.id.is_number_integer() ? pending_.find(message.id.get<int64_t>()) : pending_.end();
    if (found != pending_.end() && !found->second->is_over) {
      found->second->answer = std::move(message);
      found->second->is_over = true;
      woken_.notify_all();
    }
  } else if (message.method == "notifications/tools/list_changed") {
    changed_ = true;
  } else if (message.method == "notifications/progress") {
    take_progress(message.params);
  }
}

void McpSession::take_progress(const ToolJson& params) {
  const auto token = params.is_object() ? params.find("progressToken") : params.end();
  if (!params.is_object() || token == params.end() || !token->is_number_integer()) {
    return;
  }
  const auto found = pending_.find(token->get<int64_t>());
  if (found == pending_.end() || found->second->on_progress == nullptr) {
    return;
  }
  Pending& pending = *found->second;
  pending.deadline = std::min(Clock::now() + pending.patience, pending.last);
  const auto progress = params.find("progress");
  const auto total = params.find("total");
  std::string told = quoted_of_server(mcp_text(params, "message"));
  if (told.empty() && progress != params.end() && progress->is_number()) {
    told = total != params.end() && total->is_number()
               ? fmt::format("{:g} of {:g}", progress->get<double>(), total->get<double>())
               : fmt::format("{:g}", progress->get<double>());
  }
  if (*pending.on_progress) {
    (*pending.on_progress)(told);
  }
}

void McpSession::send_aside(std::string text) {
  // Nobody waits for it, and a server that has gone is seen by who does.
  static_cast<void>(
      transport_->send({.text = std::move(text), .is_over = {}, .deadline = {}, .stop = {}}));
}

bool McpSession::take_changed() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(changed_, false);
}

Result<std::string> McpSession::add_page(const ToolJson& page, std::vector<McpToolFacts>& tools,
                                         std::vector<std::string>& notes) const {
  const auto list = page.is_object() ? page.find("tools") : page.end();
  if (!page.is_object() || list == page.end() || !list->is_array()) {
    return fail(ErrorCode::InvalidInput, "the server's list of tools is none");
  }
  for (const ToolJson& told : *list) {
    McpToolFacts facts;
    facts.name = mcp_text(told, "name");
    facts.description = mcp_text(told, "description");
    if (facts.name.empty()) {
      continue;
    }
    if (tools.size() == kMostMcpTools) {
      notes.push_back(fmt::format("more than {} tools: the others are left out", kMostMcpTools));
      return std::string();
    }
    if (facts.description.size() > kMostDescriptionBytes) {
      facts.description = bounded_answer(facts.description, kMostDescriptionBytes);
    }
    if (const auto schema = told.find("inputSchema"); schema != told.end() && schema->is_object()) {
      facts.schema = *schema;
    }
    if (facts.schema.dump().size() > kMostSchemaBytes) {
      notes.push_back(fmt::format("the schema of {} is longer than {} bytes: left out",
                                  quoted_of_server(facts.name), kMostSchemaBytes));
      facts.schema = {{"type", "object"}};
    }
    tools.push_back(std::move(facts));
  }
  return mcp_text(page, "nextCursor");
}

Result<std::vector<McpToolFacts>> McpSession::list_tools(const std::stop_token& stop,
                                                         std::vector<std::string>& notes) {
  std::vector<McpToolFacts> tools;
  if (!has_tools_) {
    return tools;
  }
  std::string cursor;
  for (size_t page = 0; page < kMostMcpPages; ++page) {
    ToolJson params = ToolJson::object();
    if (!cursor.empty()) {
      params["cursor"] = cursor;
    }
    MYNAH_TRY(const ToolJson result,
              request("tools/list", params,
                      {.patience = patience_.listing, .longest = patience_.listing, .stop = stop}));
    MYNAH_TRY(cursor, add_page(result, tools, notes));
    if (cursor.empty()) {
      return tools;
    }
  }
  notes.push_back(
      fmt::format("more than {} pages of tools: the others are left out", kMostMcpPages));
  return tools;
}

Result<std::string> McpSession::call(const std::string& tool, const ToolJson& arguments,
                                     const ToolRun& run) {
  MYNAH_TRY(const ToolJson result, request("tools/call", {{"name", tool}, {"arguments", arguments}},
                                           {.patience = patience_.call,
                                            .longest = patience_.longest,
                                            .stop = run.stop,
                                            .on_progress = &run.on_progress}));
  std::string text = mcp_content_text(result);
  const auto failed = result.is_object() ? result.find("isError") : result.end();
  if (result.is_object() && failed != result.end() && failed->is_boolean() && failed->get<bool>()) {
    return fail(ErrorCode::InvalidInput, text.empty() ? "the tool failed" : std::move(text));
  }
  return text.empty() ? "done" : text;
}

Status McpSession::ping(const std::stop_token& stop) {
  MYNAH_TRY(const ToolJson pong,
            request("ping", ToolJson::object(),
                    {.patience = patience_.listing, .longest = patience_.listing, .stop = stop}));
  return {};
}

}  // namespace mynah::talk
