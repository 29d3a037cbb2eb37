// `mynah chat`: a conversation with a language model in the terminal, or one question.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/chat/conversation.h"
#include "cli/chat/help_options.h"
#include "cli/chat/terminal_chat.h"
#include "cli/command/verb.h"
#include "engine/chat.h"
#include "talk/memory/open_memory.h"
#include "talk/tools/tools_file.h"

namespace mynah::cli {

class ChatCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;

 private:
  // Everything but messages.
  [[nodiscard]] Result<ChatRequest> base_request() const;
  // The question of the command line and of a pipe; "": there is none.
  [[nodiscard]] Result<std::string> question(Context& context) const;
  // What was said before the first question. `loaded`: the messages of --load; null: it begins
  // here.
  [[nodiscard]] Result<Conversation> begin(ChatModel& model, ChatRequest base,
                                           Conversation::Json loaded) const;
  // Has the conversation keep what is said, and be reminded, where --memory is given.
  [[nodiscard]] Result<std::optional<talk::OpenedMemory>> remember(
      Context& context, const engine::OpenedChat& opened, Conversation& conversation) const;
  Result<int> answer(Context& context, const engine::OpenedChat& opened, Conversation conversation,
                     const std::string& question, const talk::ToolsFile& tools) const;
  Result<int> converse(Context& context, const engine::OpenedChat& opened,
                       Conversation conversation, const talk::ToolsFile& tools,
                       talk::MemoryStore* memory) const;

  std::vector<std::string> words_;
  engine::ChatWish wish_;
  std::string system_;
  std::string load_;
  MemoryOptions memory_;
  ToolOptions tools_;
  std::string schema_;
  std::string grammar_;
  bool json_mode_ = false;
  SamplingOptions sampling_{.temperature = 0.7F, .top_k = 40, .top_p = 0.95F, .min_p = 0.05F};
  std::optional<uint64_t> seed_;
  std::optional<int> alternatives_;
  int64_t most_tokens_ = 0;
  std::vector<std::string> stops_;
  std::string think_ = "auto";
  TooLong too_long_ = TooLong::Refuse;
  bool shows_thoughts_ = false;
  bool explain_ = false;
  bool timings_ = false;
};

}  // namespace mynah::cli
