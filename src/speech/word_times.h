// Word times made presentable: punctuation joined to words, words that are too long shortened,
// segments that were invented over silence found (openai/whisper timing.py, transcribe.py).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "speech/hearing.h"
#include "speech/transcript.h"

namespace mynah {

// Punctuation that belongs to the next word and to the one before.
inline constexpr std::string_view kPrependPunctuation = "\"'“¿([{-";
inline constexpr std::string_view kAppendPunctuation = "\"'.。,，!！?？:：”)]}、";

// Joins punctuation to its word; joined words keep their own times.
void merge_punctuation(std::vector<HeardWord>& words);

// Shortens words at the ends of sentences to twice the median's length. Returns the median, at most
// 0.7 s.
double shorten_sentence_ends(std::span<HeardWord> words);

// Gives `segment`, whose times come from timestamps, the words (window-relative) moved by offset_s,
// and takes start and end from them where they agree. `last_speech_s` is where the text before
// ended.
void set_words(Segment& segment, std::span<const HeardWord> words, double offset_s, double median_s,
               double last_speech_s);

// Gives each of a window's segments its words: punctuation joined, lengths made likely. The
// segments hold the words' tokens, in order. Returns where the last segment with words ends, or
// last_speech_s if there is none. Without `words` they keep those that they have.
double share_out_words(std::span<Segment> segments, std::vector<HeardWord> words, double offset_s,
                       double last_speech_s);

// Gives words without a length some of the time of the word that follows them at once, or of the
// one before, by their letters; a segment of nothing else lasts a moment. `least_s`: no word begins
// before.
void give_words_length(std::span<Segment> segments, double least_s);

// True for a segment whose words are too short, too long or too unlikely to have been said.
[[nodiscard]] bool is_anomalous(const Segment& segment);

// A window's segments against silence.
struct WindowExtent {
  double start_s = 0;          // of the window
  double end_s = 0;            // of its audio
  double recording_end_s = 0;  // of the recording, or of what is known of it
  double last_speech_s = 0;    // where the text before the window ended
};

// Drops segments that look invented and stand in silence longer than threshold_s. Returns where to
// go on from, or a negative number for "where it would have been".
[[nodiscard]] double drop_hallucinations(std::vector<Segment>& segments, const WindowExtent& window,
                                         double threshold_s);

}  // namespace mynah
