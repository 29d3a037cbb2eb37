#include "chat/reply/harmony_reply.h"

#include <array>

namespace mynah {
namespace {

constexpr auto kHarmonyMarkers =
    std::to_array<std::string_view>({"<|start|>", "<|channel|>", "<|constrain|>", "<|message|>",
                                     "<|end|>", "<|call|>", "<|return|>"});

enum HarmonyMarker : size_t { kStart, kChannel, kConstrain, kMessage };

// A header is a role, a channel and a name; what is longer is none.
constexpr size_t kMostHeaderBytes = 512;
constexpr std::string_view kRecipient = "to=";
constexpr std::string_view kFunctions = "functions.";

}  // namespace

HarmonyReply::HarmonyReply(const Spellings& controls, ReplyWriter& writer) : writer_(writer) {
  for (const std::string_view marker : kHarmonyMarkers) {
    markers_.push_back(mark_controls(marker, controls));
  }
}

void HarmonyReply::prompt_ends() {
  if (place_ == Place::Header) {
    end_part();
    is_role_ = false;
  }
}

size_t HarmonyReply::take(std::string_view stream, bool last) {
  size_t taken = 0;
  while (taken < stream.size()) {
    const std::string_view rest = stream.substr(taken);
    const MarkerHit hit = find_marker(rest, markers_, last);
    add(rest.substr(0, hit.at));
    taken += hit.at;
    if (hit.match != MarkerMatch::Found) {
      break;
    }
    meet(hit.which);
    taken += hit.length;
  }
  // Text without any header is an answer.
  if (last && place_ == Place::Header && !any_marker_ && !is_role_ &&
      !without_leading_space(part_).starts_with(kRecipient)) {
    writer_.content(part_);
  }
  return taken;
}

void HarmonyReply::add(std::string_view stream) {
  switch (place_) {
    case Place::Header:
      append_text(part_, stream);
      if (part_.size() > kMostHeaderBytes && !any_marker_ && !is_role_) {
        place_ = Place::Content;
        writer_.content(part_);
        part_.clear();
      } else if (part_.size() > kMostHeaderBytes) {
        part_.resize(kMostHeaderBytes);
      }
      break;
    case Place::Content:
      writer_.content(stream);
      break;
    case Place::Thought:
      writer_.reasoning(stream);
      break;
    case Place::Call: {
      std::string spelled;
      append_spelled(spelled, stream);
      writer_.arguments(spelled);
      break;
    }
  }
}

void HarmonyReply::meet(size_t marker) {
  if (place_ != Place::Header) {
    if (marker == kMessage || marker == kConstrain) {
      return;
    }
    writer_.end_call();
    writer_.edge();
    begin_header(marker == kStart);
    if (marker != kChannel) {
      return;
    }
  }
  end_part();
  any_marker_ = true;
  switch (marker) {
    case kStart:
      begin_header(true);
      break;
    case kChannel:
      is_channel_ = true;
      break;
    case kConstrain:
      break;
    case kMessage:
      begin_message();
      break;
    default:
      begin_header(false);
      break;
  }
}

void HarmonyReply::begin_header(bool with_role) {
  place_ = Place::Header;
  part_.clear();
  is_role_ = with_role;
  is_channel_ = false;
  any_marker_ = false;
  channel_.clear();
  recipient_.clear();
}

// Reads " to=functions.f" of a role, or "commentary to=functions.f " of a channel.
void HarmonyReply::end_part() {
  std::string_view rest = without_leading_space(part_);
  for (bool first = true; !rest.empty(); first = false) {
    const std::string_view word = rest.substr(0, rest.find_first_of(" \t\r\n"));
    if (word.starts_with(kRecipient)) {
      recipient_ = word.substr(kRecipient.size());
    } else if (first && is_channel_) {
      channel_ = word;
    }
    rest = without_leading_space(rest.substr(word.size()));
  }
  part_.clear();
  is_role_ = false;
  is_channel_ = false;
}

void HarmonyReply::begin_message() {
  writer_.edge();
  // A message for itself or for everybody is no call.
  if (!recipient_.empty() && recipient_ != "assistant" && recipient_ != "all") {
    const bool is_function = recipient_.starts_with(kFunctions);
    writer_.begin_call(recipient_.substr(is_function ? kFunctions.size() : 0), {});
    place_ = Place::Call;
  } else {
    const bool is_content = channel_ == "final" || channel_ == "commentary" || channel_.empty();
    place_ = is_content ? Place::Content : Place::Thought;
  }
}

}  // namespace mynah
