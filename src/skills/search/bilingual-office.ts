/** Chinese-English word pairs: documents, writing, study, design, pictures, sound. See bilingual-software.ts. */
export const OFFICE_WORDS = `
文档=document|documentation|docs|doc 文档生成=documentation|generate_documentation 说明文档=documentation|readme
使用说明=manual|usage|guide 手册=manual|handbook|guide 指南=guide|guideline 教程=tutorial|guide 规则=rule|rules
清单=checklist|list 检查清单=checklist 模版=template 表格=table|spreadsheet|excel 电子表格=spreadsheet|excel
工作表=worksheet|sheet 单元格=cell 公式=formula 数据透视表=pivot_table 透视表=pivot_table 图表=chart|graph|plot
柱状图=bar_chart 折线图=line_chart 饼图=pie_chart 散点图=scatter_plot 热力图=heatmap 雷达图=radar_chart
仪表盘=dashboard 看板=kanban|dashboard|board 大屏=dashboard 幻灯片=slides|presentation|powerpoint|pptx
演示文稿=presentation|slides|deck|powerpoint 演示=presentation|demo 课件=slides|courseware|presentation
汇报=report|presentation 报告=report 报表=report|reporting 周报=weekly_report 日报=daily_report 月报=monthly_report
年报=annual_report 总结=summary|summarize 摘要=summary|abstract|summarize 概括=summarize|summary 纪要=minutes|notes
会议纪要=meeting_minutes|meeting_notes 会议记录=meeting_notes|meeting_minutes 会议=meeting|conference 议程=agenda
日程=schedule|calendar 日历=calendar 提醒=reminder|remind 待办=todo|task 待办事项=todo|to-do|task
笔记=note|notes|note-taking 记录=record|log|note 备忘录=memo|notes 便签=note 邮件=email|mail 邮箱=email|mailbox|inbox
收件箱=inbox 发邮件=send_email|email 写邮件=write_email|email 群发=bulk|mass 附件=attachment 通讯录=contacts
联系人=contact 短信=sms|message 电话=phone|call 打印=print 扫描=scan|scanner 扫描件=scanned|ocr 签字=sign|signature
盖章=stamp|seal 合同=contract|agreement 条款=clause|terms 法律=legal|law 法规=regulation|law
律师=lawyer|attorney|legal 诉讼=litigation|lawsuit 起诉=lawsuit|litigation 判决=judgment|ruling 案件=case
知识产权=intellectual_property|ip 专利=patent 商标=trademark 版权=copyright 隐私政策=privacy_policy
用户协议=terms_of_service|user_agreement 写作=writing|write 撰写=write|draft 起草=draft 草稿=draft 博客=blog
博文=blog_post|blog 长文=long-form|article 文案=copy|copywriting 标题=title|headline 大纲=outline 提纲=outline
润色=polish|proofread|edit|refine 改写=rewrite|paraphrase 重写=rewrite 校对=proofread|proofreading
编辑=edit|editor|editing 修改=modify|edit|revise|change 修订=revise|revision 降重=paraphrase|plagiarism
查重=plagiarism|duplicate 抄袭=plagiarism 人性化=humanize|humanizer 风格=style 语气=tone|voice 语法=grammar|syntax
拼写=spelling|spell 错别字=typo 标点=punctuation 翻译=translate|translation 中文=chinese 英文=english 英语=english
日语=japanese 韩语=korean 法语=french 德语=german 西班牙语=spanish 双语=bilingual 中英文=bilingual|chinese_english
转录=transcribe|transcript|transcription 听写=dictation|transcribe 配音=voiceover|dubbing 口语=speaking|spoken
词汇=vocabulary 单词=word|vocabulary 小说=novel|fiction 故事=story|storytelling 剧本=script|screenplay
脚本创作=scriptwriting 人物=character 角色=role|character 情节=plot 世界观=worldbuilding 诗歌=poem|poetry 歌词=lyrics
散文=essay|prose 演讲=speech|talk 演讲稿=speech 书籍=book 电子书=ebook 读书=reading|book 阅读=reading|read
书评=book_review 读书笔记=reading_notes|book_notes 章节=chapter 目录页=table_of_contents
引用=citation|cite|reference|quote 参考文献=references|bibliography|citation 文献=literature|paper
文献综述=literature_review 综述=review|survey 论文=paper|thesis|academic 毕业论文=thesis|dissertation
学术=academic|scholarly 学术论文=academic_paper|research_paper 学术写作=academic_writing 期刊=journal
投稿=submission|submit 审稿=peer_review|review 同行评审=peer_review 审稿人=reviewer
开题报告=research_proposal|proposal 基金=grant|fund 基金申请=grant_proposal|grant 课题=research_topic|project
科研=research|scientific 调研=research|survey 深度研究=deep_research 实验=experiment|experimental
实验设计=experiment_design|experimental_design 假设=hypothesis|assumption 假设检验=hypothesis_testing
显著性=significance 方法论=methodology 理论=theory 数学=math|mathematics 公式推导=derivation|derive 证明=proof|prove
物理学=physics 化学=chemistry|chemical 生物=biology|bio 生物信息=bioinformatics 基因=gene|genomics 蛋白质=protein
分子=molecule|molecular 材料=material|materials 医学=medical|medicine 临床=clinical 药物=drug|pharmaceutical
地理=geography|geospatial 地图=map|maps 天气=weather 气候=climate 天文=astronomy 历史=history 哲学=philosophy
心理=psychology|mental 心理学=psychology 经济学=economics 社会=social|society 教育=education|educational
教学=teaching|instruction 教师=teacher 老师=teacher 学生=student 学习=learn|learning|study
学习计划=study_plan|learning_plan 课程=course|curriculum 课程设计=curriculum_design|course_design 教案=lesson_plan
备课=lesson_plan|lesson 作业=homework|assignment 考试=exam|test 试题=exam|quiz|question 题库=question_bank|quiz
题目=question|problem 出题=quiz|question 测验=quiz 答案=answer 批改=grading|grade 面试=interview
面试题=interview_question 笔试=written_test 简历=resume|cv 求职=job_search|job 求职信=cover_letter
招聘=recruit|recruiting|hiring 岗位=job|position|role 职位=job|position 职业=career 职业规划=career_planning|career
培训=training 知识=knowledge 知识点=knowledge_point|concept 知识管理=knowledge_management|pkm 概念=concept
思维导图=mind_map|mindmap 脑图=mindmap|mind_map 流程图=flowchart|diagram 时序图=sequence_diagram 甘特图=gantt
示意图=diagram|schematic 图解=diagram|illustration 绘图=draw|drawing|plot 画图=draw|drawing|diagram
制图=chart|plot|diagram 闪卡=flashcard|anki 卡片=card|cards 复习=review|revise|study 背诵=memorize
解释=explain|explanation 讲解=explain 通俗=plain|simple 科普=popular_science|explainer 设计=design 设计师=designer
设计系统=design_system 设计稿=design|mockup|figma 界面=interface|ui 界面设计=ui_design|interface_design
用户界面=user_interface|ui 用户体验=user_experience|ux 交互=interaction|interactive 交互设计=interaction_design
视觉=visual|vision 视觉设计=visual_design 排版=layout|typesetting|typography 布局=layout 字体=font|typography
配色=color|palette|color_palette 颜色=color 色彩=color 主题=theme|topic 图标=icon 标志=logo 品牌=brand|branding
品牌设计=branding|brand_design 海报=poster 封面=cover|thumbnail 缩略图=thumbnail 横幅=banner 插画=illustration
插图=illustration|figure 配图=illustration|image 信息图=infographic 图片=image|picture|photo 图像=image 照片=photo
修图=photo_editing|retouch 抠图=background_removal|remove_background 去背景=remove_background|background_removal
水印=watermark 去水印=remove_watermark|watermark 截图=screenshot 生成图片=image_generation|generate_image
图片生成=image_generation|generate_image 文生图=text-to-image|image_generation 生图=image_generation 像素=pixel
像素画=pixel_art 漫画=comic|manga 表情包=meme|sticker|emoji 头像=avatar|portrait 艺术=art|artistic
绘画=painting|drawing 建筑=architecture|building 室内设计=interior_design 家具=furniture 服装=clothing|fashion
穿搭=outfit|fashion 美学=aesthetic|aesthetics 高级感=premium|aesthetic 简约=minimalist|minimal 动效=animation|motion
动态图=gif|animation 视频=video 视频剪辑=video_editing|edit_video 剪辑=edit|clip|editing
短视频=short_video|tiktok|video 视频生成=video_generation|generate_video 视频制作=video_production|video
长视频=long_video|video 直播=live_stream|livestream|live 录屏=screen_recording 录制=record|recording
拍摄=shoot|filming|photography 摄影=photography 分镜=storyboard 镜头=shot|camera 特效=effect|effects 转场=transition
音频=audio 音乐=music 歌曲=song 作曲=compose|composition 编曲=arrangement|music 伴奏=accompaniment 播客=podcast
声音=voice|sound|audio 语音=voice|speech|audio 语音转文字=speech-to-text|transcribe|transcription
文字转语音=text-to-speech|tts 录音=recording|audio 朗读=read_aloud|tts 克隆=clone 声音克隆=voice_clone|voice_cloning
音效=sound_effect 电影=movie|film 电视剧=tv|drama 文本=text 文字=text 字符=character|string 字符串=string
段落=paragraph 句子=sentence 关键词=keyword|keywords 标签=tag|label|tags 分词=tokenize|segmentation 词云=word_cloud
页眉=header 页脚=footer 页码=page_number 超链接=hyperlink|link 链接=link|url 书签=bookmark 收藏=bookmark|save|favorite
剪贴板=clipboard 表头=header 筛选=filter|screening 汇总=summarize|aggregate|summary 合计=total|sum
计算=calculate|compute|calculation 计算器=calculator 换算=convert|conversion 模拟考试=mock_exam
电子发票=invoice|e-invoice 发票=invoice 收据=receipt 报销=reimbursement|expense 表单填写=fill_form|form
填写=fill|fill_in 归纳=summarize|induce 梳理=organize|sort_out|review 拆解=break_down|breakdown|decompose
分解=decompose|break_down 复盘=retrospective|retro|review|postmortem 反思=reflect|reflection
头脑风暴=brainstorm|brainstorming 创意=creative|creativity|idea 想法=idea|thought 灵感=inspiration|idea
思考=think|thinking 批判性思维=critical_thinking 决策=decision|decision-making 逻辑=logic 辩论=debate
观点=opinion|viewpoint 洞察=insight|insights 建议=suggestion|advice|recommend 方案=plan|solution|proposal|scheme
提案=proposal 计划=plan|planning 规划=planning|plan|roadmap 路线图=roadmap 目标=goal|objective|target 里程碑=milestone
进度=progress|schedule 优先级=priority|prioritize 时间管理=time_management 效率=productivity|efficiency 习惯=habit
打卡=check-in|habit 日记=journal|diary 目标管理=okr|goal 个人=personal 个人网站=personal_website|portfolio
作品集=portfolio 文章=article|post|essay 字幕=subtitle|caption|subtitles 研究=research|study
`;
