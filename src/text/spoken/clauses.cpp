#include "text/spoken/clauses.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "text/spoken/characters.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mynah {
namespace {

// How well a piece ends behind a word, best first. The numbers are what a border costs, in parts of
// the limit by which a piece may miss its aim for a better one.
enum class Border { Stop, Clause, Comma, Close, Conjunction, Space, Inside };

double penalty(Border border) {
  constexpr std::array<double, 7> kPenalties = {0.0, 0.02, 0.12, 0.2, 0.3, 0.7, 1.5};
  return kPenalties[static_cast<size_t>(border)];
}

// A word with the marks at it, or a part of one; its border is the one behind it.
struct Atom {
  size_t begin = 0;
  size_t end = 0;
  size_t cost = 1;
  size_t space = 0;  // what the space before it costs: 1, or 0 where it continues a word
  Border border = Border::Space;
};

bool is_conjunction(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"and",   "but",     "or",     "nor",    "so",    "yet",  "because", "although", "though",
       "while", "whereas", "if",     "unless", "until", "when", "where",   "which",    "who",
       "that",  "since",   "before", "after",  "as",    "then", "than",    "however"});
  return std::ranges::find(kWords, word) != kWords.end();
}

Border border_behind(std::string_view word) {
  bool closed = false;
  while (!word.empty()) {
    size_t last = word.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(word[last]) & 0xC0U) == 0x80) {
      --last;
    }
    const char32_t c = next_code_point(word.substr(last)).code_point;
    if (is_spaced_stop(c) || is_free_stop(c)) {
      return Border::Stop;
    }
    if (std::u32string_view(U";:\u2013\u2014\uFF1B\uFF1A\u061B").find(c) !=
        std::u32string_view::npos) {
      return Border::Clause;
    }
    if (std::u32string_view(U",\u3001\uFF0C\u060C").find(c) != std::u32string_view::npos) {
      return Border::Comma;
    }
    if (!is_closer(c)) {
      break;
    }
    closed = closed || c != '\'';
    word = word.substr(0, last);
  }
  return closed ? Border::Close : Border::Space;
}

// A piece of a word begins at `at` only where no character is torn: not inside UTF-8's sequence,
// nor before a mark or a joiner that belongs to the letter before it.
bool may_begin(std::string_view text, size_t at) {
  if ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80) {
    return false;
  }
  const char32_t c = next_code_point(text.substr(at)).code_point;
  return !is_mark(c) && c != 0x200D && !(c >= 0xFE00 && c <= 0xFE0F) &&
         !(c >= 0x1F3FB && c <= 0x1F3FF);
}

// A word above the limit, in halves until each part is within it or is one character.
void add_parts(std::string_view text, Atom word, size_t max_cost, const ClauseCost& cost,
               std::vector<Atom>& atoms) {
  std::vector<Atom> open = {word};
  while (!open.empty()) {
    Atom atom = open.back();
    open.pop_back();
    size_t middle = atom.begin + (atom.end - atom.begin) / 2;
    while (middle < atom.end && !may_begin(text, middle)) {
      ++middle;
    }
    if (atom.cost <= max_cost || middle >= atom.end || middle == atom.begin) {
      atoms.push_back(atom);
      continue;
    }
    const auto part = [&](size_t begin, size_t end, Border border) {
      const size_t price = cost(text.substr(begin, end - begin));
      return Atom{.begin = begin, .end = end, .cost = std::max<size_t>(price, 1), .border = border};
    };
    // The first half lies on top and is taken first.
    open.push_back(part(middle, atom.end, atom.border));
    open.push_back(part(atom.begin, middle, Border::Inside));
    open.back().space = atom.space;
  }
}

std::vector<Atom> atoms_of(std::string_view text, size_t max_cost, const ClauseCost& cost) {
  std::vector<Atom> atoms;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = at;
    size_t after = at;
    while (end < text.size()) {
      const Utf8Step step = next_code_point(text.substr(end));
      after = end + step.bytes;
      if (is_white_space(step.code_point)) {
        break;
      }
      end = after;
      // Scripts without spaces have their commas and stops as borders.
      if (border_behind(text.substr(end - step.bytes, step.bytes)) <= Border::Comma &&
          step.bytes > 2) {
        break;
      }
    }
    if (end > at) {
      const std::string_view word = text.substr(at, end - at);
      if (is_conjunction(word) && !atoms.empty() && atoms.back().border == Border::Space) {
        atoms.back().border = Border::Conjunction;
      }
      const bool spaced = at > 0 && is_ascii_space(text[at - 1]);
      const Atom atom{.begin = at,
                      .end = end,
                      .cost = std::max<size_t>(cost(word), 1),
                      .space = spaced ? 1U : 0U,
                      .border = border_behind(word)};
      add_parts(text, atom, max_cost, cost, atoms);
    }
    at = std::max(after, end);
  }
  return atoms;
}

// Where the piece that begins at `first` ends: one past its last atom, none above `limit`.
size_t best_end(const std::vector<Atom>& atoms, size_t first, size_t limit, size_t aim,
                Border worst) {
  size_t best = 0;
  double best_score = std::numeric_limits<double>::infinity();
  size_t cost = 0;
  for (size_t i = first; i < atoms.size(); ++i) {
    cost += atoms[i].cost + (i == first ? 0 : atoms[i].space);
    if (cost > limit && i > first) {
      break;
    }
    if (atoms[i].border > worst) {
      continue;
    }
    const double miss =
        (static_cast<double>(cost) - static_cast<double>(aim)) / static_cast<double>(limit);
    const double score = penalty(atoms[i].border) + 2.0 * (miss < 0 ? -miss : miss);
    if (score < best_score) {
      best_score = score;
      best = i + 1;
    }
  }
  return best;
}

size_t total_cost(const std::vector<Atom>& atoms, size_t first) {
  size_t cost = 0;
  for (size_t i = first; i < atoms.size(); ++i) {
    cost += atoms[i].cost + (i == first ? 0 : atoms[i].space);
  }
  return cost;
}

// The end of a short first piece, or 0 where the sentence is short or has no good place.
size_t short_first(const std::vector<Atom>& atoms, const ClauseOptions& options, size_t total) {
  const size_t limit = std::min(options.first_cost, options.max_cost);
  if (limit == 0 || total <= limit) {
    return 0;
  }
  const size_t end = best_end(atoms, 0, limit, limit, Border::Conjunction);
  if (end > 0 || total <= 2 * limit) {
    return end;
  }
  return best_end(atoms, 0, limit, limit, Border::Space);
}

}  // namespace

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::vector<Clause> cut_clauses(std::string_view sentence, const ClauseOptions& options,
                                const ClauseCost& cost) {
  const std::vector<Atom> atoms = atoms_of(sentence, options.max_cost, cost);
  std::vector<Clause> clauses;
  size_t rest = total_cost(atoms, 0);
  size_t first = 0;
  const auto take = [&](size_t end) {
    clauses.push_back({.begin = atoms[first].begin, .end = atoms[end - 1].end});
    for (; first < end; ++first) {
      rest -= atoms[first].cost + (first == 0 ? 0 : atoms[first].space);
    }
  };
  if (const size_t end = short_first(atoms, options, rest); end > 0 && end < atoms.size()) {
    take(end);
  }
  while (first < atoms.size()) {
    if (rest <= options.max_cost) {
      take(atoms.size());
      break;
    }
    const size_t pieces = (rest + options.max_cost - 1) / options.max_cost;
    take(best_end(atoms, first, options.max_cost, rest / pieces, Border::Inside));
  }
  return clauses;
}

}  // namespace mynah
