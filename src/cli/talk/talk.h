// `mynah talk`: a conversation out loud.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/source.h"
#include "cli/chat/help_options.h"
#include "cli/command/verb.h"
#include "cli/talk/talk_mind.h"
#include "cli/talk/talk_models.h"
#include "cli/talk/talk_satellite.h"
#include "cli/talk/talk_wake.h"
#include "talk/loop/conversation.h"

namespace mynah::cli {

class TalkCommand : public Command {
 public:
  void fields(Fields& fields) override;
  Result<int> run(Context& context) override;
  [[nodiscard]] std::string details() const override;
  Result<std::vector<std::string>> translate(std::vector<std::string> arguments,
                                             const Fields& fields) override;

 private:
  // Options that the command line has: what a configuration says is meant for conversations.
  [[nodiscard]] std::vector<std::string> given() const;
  [[nodiscard]] Status check(const Context& context) const;
  // `language`: the code of the one that is spoken.
  [[nodiscard]] talk::TalkSettings settings(const std::string& language) const;
  // What replies, with the tools and the memory that are wanted.
  [[nodiscard]] Result<std::unique_ptr<TalkMind>> open_mind(Context& context,
                                                            const TalkModels& models,
                                                            talk::Confirm& confirm) const;
  // With a recording in place of the microphone.
  Result<int> talk_to_file(Context& context, AudioSource& source, TalkModels& models) const;
  // At this machine's microphone and loudspeaker; on the whole terminal where there is one.
  Result<int> talk_at_desk(Context& context, TalkModels& models) const;

  const Fields* fields_ = nullptr;  // of this run; they outlive it
  std::string wav_;
  std::string out_;
  bool real_time_ = false;
  std::string microphone_;
  std::string loudspeaker_;
  bool push_to_talk_ = false;
  WakeChoice wake_;
  SatelliteChoice satellite_;
  std::string keep_audio_;
  std::string system_;
  MemoryOptions memory_;
  ToolOptions tools_;
  talk::ToolsFile tools_file_;
  int64_t most_tokens_ = 300;
  SamplingOptions sampling_{.temperature = 0.7F, .top_k = 40, .top_p = 0.95F, .min_p = 0.05F};
  std::optional<uint64_t> seed_;
  bool timings_ = false;
  TalkWish wish_;
};

}  // namespace mynah::cli
