/**
 * Synonyms: names, abbreviations and file types. All words of a line are interchangeable; `_` joins the words of a phrase. Only exact
 * synonyms are listed, because wider groups (`bug issue defect`) did not improve the results.
 */
export const SYNONYM_GROUPS = `
kubernetes k8s
javascript js
typescript ts
python py
golang go
csharp c#
cpp c++
postgres postgresql
mongodb mongo
database db
repository repo
documentation docs
configuration config
environment env
powerpoint ppt pptx slides presentation
excel xlsx xls spreadsheet
docx word
markdown md
jpeg jpg
yaml yml
pull_request pr
continuous_integration ci
end-to-end e2e
todo to-do
signup sign-up
login sign-in
ecommerce e-commerce
email e-mail
frontend front-end
backend back-end
text-to-speech tts
speech-to-text transcription
ocr text_recognition
resume cv
seo search_engine_optimization
accessibility a11y
internationalization i18n
localization l10n
terraform infrastructure_as_code iac
llm large_language_model
artificial_intelligence ai
machine_learning ml
natural_language_processing nlp
regex regular_expression
user_interface ui
user_experience ux
application app
authentication auth
xiaohongshu rednote xhs
feishu lark
twitter x
key_performance_indicator kpi
return_on_investment roi
product_requirements prd
human_resources hr
public_relations pr
`;
