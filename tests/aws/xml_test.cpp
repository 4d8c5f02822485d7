// Answers as trees, and errors as all services tell them.
#include "aws/xml.h"

#include <gtest/gtest.h>

namespace fairlead::aws {
namespace {

TEST(AwsXml, TreeByNames) {
    const auto document = parse_xml(
        R"(<?xml version="1.0"?><A xmlns="http://x/"><B> 7 </B><L><member><K>a &amp; b</K></member><member/></L></A>)");
    ASSERT_TRUE(document) << document.error().text();
    EXPECT_EQ(document->name, "A");
    EXPECT_EQ(document->at("B"), "7");
    EXPECT_EQ(document->int_at("B"), 7);
    ASSERT_EQ(document->list("L").size(), 2U);
    EXPECT_EQ(document->list("L")[0].at("K"), "a & b");
    EXPECT_EQ(document->child("none"), nullptr);
    EXPECT_EQ(document->at("none"), "");
    EXPECT_FALSE(document->int_at("none"));
    EXPECT_TRUE(document->list("none").empty());
}

TEST(AwsXml, WhatIsNone) {
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += "<a>";
    for (int i = 0; i < 100; ++i) deep += "</a>";
    for (const auto& text :
         {std::string("<a><b></a>"), std::string("text"), deep, std::string(17UL * 1024 * 1024, ' ')}) {
        const auto document = parse_xml(text);
        ASSERT_FALSE(document) << text.substr(0, 20);
        EXPECT_EQ(document.error().code, Errc::corrupt);
    }
}

TEST(AwsXml, Errors) {
    const auto error = parse_error(
        "<ErrorResponse><Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate "
        "exceeded</Message></Error></ErrorResponse>");
    EXPECT_EQ(error.code, "Throttling");
    EXPECT_EQ(error.messages, (std::vector<std::string>{"Rate exceeded"}));
    for (const auto* text : {"", "<html/>", "<ErrorResponse/>", "no XML"})
        EXPECT_EQ(parse_error(text).code, "") << text;
}

}  // namespace
}  // namespace fairlead::aws
