// The organs of a conversation that are servers elsewhere: which the user wants, and how he trusts
// them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command/verb.h"
#include "talk/organs/remote_organs.h"

namespace mynah::cli {

struct ServiceWish {
  std::string url;       // "": the organ is in this process
  std::string key_file;  // "": no key is sent

  [[nodiscard]] bool is_wanted() const { return !url.empty(); }
};

struct TalkServices {
  ServiceWish mind;
  ServiceWish ear;
  ServiceWish mouth;
  std::string ca_file;  // certificates to trust besides the system's

  void fields(Fields& fields);

  [[nodiscard]] bool any() const {
    return mind.is_wanted() || ear.is_wanted() || mouth.is_wanted();
  }

  [[nodiscard]] bool are_all() const {
    return mind.is_wanted() && ear.is_wanted() && mouth.is_wanted();
  }

  // Of an organ that is wanted. A language model is asked for a word: an address that is none of
  // OpenAI's API, a key and a model that the server does not know are refused, what else goes wrong
  // is told, and its facts name the model that answers. `model`: as users name it, auto for one
  // that the server has. As read_secret_file() and the organs refuse.
  [[nodiscard]] Result<std::unique_ptr<talk::Mind>> open_mind(const Context& context,
                                                              const std::string& model) const;
  [[nodiscard]] Result<std::unique_ptr<talk::Ear>> open_ear(
      const Context& context, const std::string& model, std::vector<std::string> hotwords) const;
  [[nodiscard]] Result<std::unique_ptr<talk::Mouth>> open_mouth(
      const Context& context, const std::string& model, const talk::ServedVoice& voice) const;

  // Usage for what is no address, and for a key without its service.
  [[nodiscard]] Status check() const;

 private:
  [[nodiscard]] Result<talk::Service> service(const Context& context, const ServiceWish& wish,
                                              const std::string& option,
                                              const std::string& model) const;
};

// Where words go that leave the machine, a line each, and which of it others can read on its way.
[[nodiscard]] std::vector<std::string> leaving_words(const talk::OrganFacts& ear,
                                                     const talk::OrganFacts& mind,
                                                     const talk::OrganFacts& mouth);

}  // namespace mynah::cli
