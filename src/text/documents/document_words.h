// The words by which parts of documents are known, notes above all: document_words.tsv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mynah {

// The kinds of the table, which says of each what it is.
enum class DocumentWord : uint8_t {
  TypeMark,
  TypeNote,
  TypeNotes,
  TypeBack,
  ClassMark,
  ClassMaybe,
  ClassNote,
  ClassNotes,
  ClassBack,
  ClassCapital,
  IdNote,
  Label,
  Back,
  Title,
  Page,
  Of,
  Chapter,
  Capital,
  Prefix,
  Ending,
  SaidNote,
  NoSpeaker,
};

// Whether the table has the word in this kind. Of names (types, classes, ids) digits, "-" and "_"
// are passed over, so that "_ftn12" is "ftn"; of all words capitals count as small letters.
[[nodiscard]] bool is_document_word(DocumentWord kind, std::string_view word);

// What a mark of a note says: "[12]", "*", "¹", "(b)", "Note 3", "iv".
struct NoteLabel {
  enum class Kind : uint8_t { None, Number, Letters, Symbol };

  Kind kind = Kind::None;
  std::string core{};   // "12", "*", "b"; of raised digits the plain ones
  bool square = false;  // "[12]" and the like: text that stands in no bracket by chance
  bool raised = false;  // by its characters

  explicit operator bool() const { return kind != Kind::None; }
};

// The label that a text is as a whole; none where it is more, or something else.
[[nodiscard]] NoteLabel note_label(std::string_view text);

// How many bytes of a text's begin are this label, with brackets and points around it; 0 where it
// begins otherwise, or goes on as a word does.
[[nodiscard]] size_t label_length(std::string_view text, std::string_view core);

// A note as it is said at the end of its chapter: "Note 12: ..." in the document's language (BCP
// 47;
// "": English), "12. ..." in one whose word for it is not in the table. One that is marked by a
// sign has no number.
[[nodiscard]] std::string said_note(std::string_view label, std::string_view text,
                                    std::string_view language = {});

// How a note begins that says so in words, in Project Gutenberg's texts: "[Footnote 12: ...",
// "[Footnote: ...".
struct WordedNote {
  NoteLabel label{};
  size_t length = 0;  // bytes up to the note's own text
};

[[nodiscard]] std::optional<WordedNote> worded_note(std::string_view text);

// Whether a text is only what leads back from a note: "↩", "^", "Back".
[[nodiscard]] bool is_back_text(std::string_view text);

// Whether a heading's text is that of notes: "NOTES:", "Footnotes".
[[nodiscard]] bool is_notes_title(std::string_view text);

// A text without white space of any kind, joiners and variation selectors at its ends.
[[nodiscard]] std::string_view trim_unicode_space(std::string_view text);

}  // namespace mynah
