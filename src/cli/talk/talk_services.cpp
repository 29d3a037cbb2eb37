#include "cli/talk/talk_services.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "engine/store_folders.h"
#include "talk/tools/secret_file.h"

namespace mynah::cli {

namespace {

void service_fields(Fields& fields, const std::string& name, ServiceWish& wish,
                    const std::string& what) {
  fields.option(name, "URL", wish.url,
                what +
                    " of a server with OpenAI's API, such as http://127.0.0.1:8080; empty: one of "
                    "this machine's own.");
  fields
      .option(name + "-key-file", "FILE", wish.key_file,
              fmt::format("With --{}: the key that the server wants, in a file that its user alone "
                          "may read.",
                          name))
      .completes(Complete::Files);
}

}  // namespace

void TalkServices::fields(Fields& fields) {
  fields.section("Services elsewhere");
  service_fields(fields, "llm", mind, "Replies come from a language model");
  service_fields(fields, "stt", ear, "What is said is heard by a recogniser");
  service_fields(fields, "tts", mouth, "Replies are spoken by a voice");
  fields
      .option("ca-file", "FILE", ca_file,
              "Certificates that these servers may have, besides those that the system trusts.")
      .completes(Complete::Files);
}

Status TalkServices::check() const {
  struct Named {
    const ServiceWish& wish;
    std::string_view option;
  };

  for (const Named& one : {Named{mind, "llm"}, Named{ear, "stt"}, Named{mouth, "tts"}}) {
    if (!one.wish.key_file.empty() && !one.wish.is_wanted()) {
      return fail(ErrorCode::Usage,
                  fmt::format("--{0}-key-file is for --{0} URL, which is not given", one.option));
    }
    if (const auto address = talk::parse_service_address(one.wish.url);
        one.wish.is_wanted() && !address) {
      return fail(ErrorCode::Usage, fmt::format("--{}: {}", one.option, address.error().message));
    }
  }
  return {};
}

Result<talk::Service> TalkServices::service(const Context& context, const ServiceWish& wish,
                                            const std::string& option,
                                            const std::string& model) const {
  MYNAH_TRY(auto address, talk::parse_service_address(wish.url));
  talk::Service service{.address = std::move(address),
                        .option = option,
                        .model = model == "auto" ? std::string() : model};
  if (!wish.key_file.empty()) {
    MYNAH_TRY(service.key, talk::read_secret_file(wish.key_file));
  }
  service.http.ca_file = ca_file;
  if (!service.address.is_here()) {
    service.http.proxies = engine::proxies(context.environment);
  }
  return service;
}

Result<std::unique_ptr<talk::Mind>> TalkServices::open_mind(const Context& context,
                                                            const std::string& model) const {
  MYNAH_TRY(auto asked, service(context, mind, "llm", model));
  MYNAH_TRY(auto opened, talk::remote_mind(std::move(asked), context.stop));
  ChatRequest hello;
  hello.messages.push_back({{"role", "user"}, {"content", "Hello."}});
  hello.choice.most_tokens = 1;
  hello.thinking.effort = Thinking::Effort::None;
  ChatObserver nobody;
  const auto replied = opened->reply(hello, nobody, context.stop);
  if (!replied) {
    const ErrorCode code = replied.error().code;
    if (code == ErrorCode::Environment || code == ErrorCode::Cancelled) {
      return std::unexpected(replied.error());
    }
    context.say(fmt::format("{}; it is asked again with the first words", replied.error().message));
  }
  return opened;
}

Result<std::unique_ptr<talk::Ear>> TalkServices::open_ear(const Context& context,
                                                          const std::string& model,
                                                          std::vector<std::string> hotwords) const {
  MYNAH_TRY(auto asked, service(context, ear, "stt", model));
  return talk::remote_ear(std::move(asked), std::move(hotwords), context.stop);
}

Result<std::unique_ptr<talk::Mouth>> TalkServices::open_mouth(
    const Context& context, const std::string& model, const talk::ServedVoice& voice) const {
  MYNAH_TRY(auto asked, service(context, mouth, "tts", model));
  return talk::remote_mouth(std::move(asked), voice, context.stop);
}

std::vector<std::string> leaving_words(const talk::OrganFacts& ear, const talk::OrganFacts& mind,
                                       const talk::OrganFacts& mouth) {
  struct Leaving {
    const talk::OrganFacts& organ;
    std::string_view what;
  };

  std::vector<std::string> lines;
  for (const Leaving& one :
       {Leaving{ear, "what you say goes"}, Leaving{mind, "the words of the conversation go"},
        Leaving{mouth, "the words of replies go"}}) {
    if (one.organ.leaves_machine) {
      const bool is_open = one.organ.place.starts_with("http:");
      lines.push_back(fmt::format("{} to {}{}", one.what, one.organ.place,
                                  is_open ? ", unencrypted: it can be read on its way" : ""));
    }
  }
  return lines;
}

}  // namespace mynah::cli
