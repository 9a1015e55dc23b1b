#pragma once

#include <span>
#include <string>

#include "ayatori/tuning/memory/knowledge.hpp"

namespace ayatori::session {

// What is done with a knowledge base by hand. Called on one rank.

/// That of a folder; "auto": tuning::default_knowledge_folder(). Throws InputError where there is none.
tuning::KnowledgeBase knowledge_base(const std::string& folder);

/// Lessons whose keys begin so. Throws InputError if a key is asked for that nothing begins with.
tuning::KnowledgeBase::Content lessons_of(const tuning::KnowledgeBase& base, const std::string& key);

/// One line.
std::string summary(const tuning::Lesson& lesson);

/// A JSON list, as import_lessons() reads it.
std::string text_of(std::span<const tuning::Lesson> lessons);

/// All of a file or nothing; gives how many. Throws InputError.
int import_lessons(const tuning::KnowledgeBase& base, const std::string& path);

}  // namespace ayatori::session
