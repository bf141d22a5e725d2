/** Chinese-English word pairs: trade, money, people, daily life. See bilingual-software.ts. */
export const BUSINESS_WORDS = `
产品=product 产品经理=product_manager|pm 产品设计=product_design 产品需求文档=prd|product_requirements
产品路线图=product_roadmap 用户研究=user_research 用户画像=persona|user_persona 用户故事=user_story
用户访谈=user_interview 访谈=interview 问卷=survey|questionnaire 问卷调查=survey 反馈=feedback
竞品=competitor|competitive 竞品分析=competitor_analysis|competitive_analysis 竞争对手=competitor
竞争=competition|competitive 市场=market|marketing 市场调研=market_research 市场分析=market_analysis|market_research
行业=industry 行业分析=industry_analysis 行业研究=industry_research 趋势=trend|trends 热点=trending|hot_topic|trend
热搜=trending|hot_search 热门=popular|trending|hot 爆款=viral|hit 选题=topic|topic_selection
选品=product_selection|product_research 定位=positioning|locate 差异化=differentiation 商业=business|commercial
商业模式=business_model 商业计划书=business_plan 商业计划=business_plan 创业=startup|entrepreneur 创业公司=startup
创始人=founder 投资=invest|investment 投资人=investor 融资=fundraising|funding 路演=pitch|roadshow 估值=valuation
尽职调查=due_diligence 并购=merger|acquisition 战略=strategy|strategic 策略=strategy|policy 战术=tactic 增长=growth
用户增长=user_growth|growth 裂变=referral|viral 拉新=acquisition|user_acquisition 留存=retention 流失=churn
活跃=active|engagement 转化=conversion|convert 转化率=conversion_rate|cro 漏斗=funnel 变现=monetization|monetize
定价=pricing 价格=price|pricing 折扣=discount 优惠=discount|promotion|offer 优惠券=coupon 促销=promotion|sale
套餐=package|plan 会员=membership|member 付费=paid|payment|paywall 免费=free 试用=trial 订单=order 下单=order|checkout
购物车=cart|shopping_cart 支付=payment|pay 支付宝=alipay 微信支付=wechat_pay 退款=refund 退货=return
售后=after-sales|support 客服=customer_service|customer_support|support 客户=customer|client 客户成功=customer_success
客户关系=crm|customer_relationship 客户管理=crm 满意度=satisfaction|nps 投诉=complaint 销售=sales|sell|selling
销售线索=lead|leads 线索=lead|clue 商机=opportunity 话术=script|sales_script|talk_track 谈判=negotiate|negotiation
报价=quote|quotation|pricing 报价单=quotation|quote 招标=tender|bidding 投标=bid|tender 标书=tender|bid|proposal
采购=procurement|purchase|purchasing 供应商=supplier|vendor 供应链=supply_chain 物流=logistics|shipping
快递=express|delivery|courier 配送=delivery 仓储=warehouse 库存=inventory|stock 生产=production|manufacturing
制造=manufacturing 质检=quality_inspection|quality_control 质量=quality 质量检查=quality_check|quality_control
零售=retail 电商=e-commerce|ecommerce 跨境电商=cross-border_e-commerce|ecommerce 跨境=cross-border 店铺=shop|store
淘宝=taobao 天猫=tmall 京东=jd 拼多多=pinduoduo 亚马逊=amazon 闲鱼=xianyu 商品=product|goods|item
商品描述=product_description|listing 上架=listing|list 批发=wholesale 外贸=foreign_trade|export|trade
进出口=import_export|trade 关税=tariff 海关=customs 营销=marketing 数字营销=digital_marketing
内容营销=content_marketing 邮件营销=email_marketing 社交媒体=social_media 社媒=social_media|social
自媒体=social_media|creator|content_creator 新媒体=new_media|social_media 内容=content 内容创作=content_creation
内容策略=content_strategy 运营=operations|operation 社群=community 社区=community 粉丝=follower|fan|audience
受众=audience 影响力=influence|influencer 网红=influencer 达人=influencer|creator|kol 博主=blogger|creator
种草=seeding|recommendation|xiaohongshu 带货=livestream_selling|ecommerce 小红书=xiaohongshu|rednote|xhs
抖音=douyin|tiktok 快手=kuaishou 微信=wechat|weixin 微博=weibo 知乎=zhihu 哔哩哔哩=bilibili
视频号=wechat_channels|video_channel 公众号文章=wechat_article|official_account 飞书=feishu|lark 钉钉=dingtalk
企业微信=wecom|wechat_work 推特=twitter|x 脸书=facebook 领英=linkedin 油管=youtube 谷歌=google 百度=baidu
微软=microsoft 必应=bing 思源笔记=siyuan 语雀=yuque 石墨=shimo 腾讯文档=tencent_docs 金山=wps 帖子=post
评论=comment|review 点赞=like 转发=share|repost|forward 私信=dm|direct_message|message 发帖=post|publish
广告=ad|ads|advertising|advertisement 广告投放=advertising|paid_ads|ad_campaign 投放=ad_campaign|delivery|advertising
推广=promotion|promote|marketing 曝光=exposure|impression 点击率=ctr|click-through
搜索引擎优化=seo|search_engine_optimization 搜索优化=seo 排名=ranking|rank 外链=backlink|backlinks
关键词研究=keyword_research 着陆页=landing_page 活动=campaign|event|activity 活动策划=event_planning|campaign
策划=planning|plan|campaign 公关=pr|public_relations 新闻稿=press_release 新闻=news 资讯=news|information
早报=daily_news|morning_briefing|briefing 简报=briefing|newsletter|brief 舆情=public_opinion|sentiment
情感分析=sentiment_analysis 口碑=reputation|word_of_mouth 口号=slogan|tagline 故事化=storytelling
财务=finance|financial|accounting 财务分析=financial_analysis 财务报表=financial_statement|financial_report
财报=earnings|financial_report 会计=accounting|accountant 记账=bookkeeping|accounting|expense
账单=bill|billing|invoice 账户=account 对账=reconciliation|reconcile 预算=budget|budgeting 成本=cost
成本控制=cost_control|cost_optimization 费用=expense|cost|fee 收入=income|revenue 营收=revenue 利润=profit
毛利=gross_margin|margin 现金流=cash_flow 资产=asset|assets 负债=liability|debt 资产负债表=balance_sheet
利润表=income_statement 税务=tax|taxation 报税=tax_filing|tax_return|tax 纳税=tax 工资=salary|payroll
薪酬=compensation|salary|payroll 股票=stock|stocks|equity 股市=stock_market|stock 港股=hong_kong_stock|stock
美股=us_stock|stock 行情=market_data|quote|quotes 基金投资=fund|mutual_fund 债券=bond 期货=futures 期权=options|option
外汇=forex|fx 汇率=exchange_rate 黄金=gold 交易=trade|trading|transaction 量化=quant|quantitative
量化交易=quantitative_trading|quant_trading 回测=backtest|backtesting 策略回测=backtest 技术分析=technical_analysis
基本面=fundamental|fundamentals 选股=stock_screening|stock_picking 持仓=position|holdings|portfolio 投资组合=portfolio
资产配置=asset_allocation 风险=risk 风险管理=risk_management 风险评估=risk_assessment
风控=risk_control|risk_management 保险=insurance 理赔=claim|claims 贷款=loan 信用卡=credit_card 信用=credit
银行=bank|banking 理财=wealth_management|personal_finance|investment 退休=retirement 房贷=mortgage
房产=real_estate|property 房地产=real_estate 租房=rent|rental 买房=home_buying|house 宏观经济=macroeconomic|economy
经济=economy|economic 项目=project 项目管理=project_management 项目经理=project_manager 项目计划=project_plan
敏捷=agile|scrum 迭代=iteration|sprint|iterate 冲刺=sprint 站会=standup 估算=estimate|estimation 工时=timesheet|effort
排期=scheduling|schedule|plan 排班=shift_scheduling|scheduling|roster 团队=team 团队管理=team_management
协作=collaboration|collaborate 沟通=communication|communicate 领导力=leadership 领导=leader|manager 老板=boss|manager
员工=employee|staff 绩效=performance_review|performance 绩效考核=performance_review|appraisal
人力资源=human_resources|hr 人事=hr|human_resources 入职=onboarding 离职=offboarding|resignation 考勤=attendance
组织=organization|organize 企业=enterprise|company|business 公司=company|corporate 部门=department 政府=government
政策=policy 公文=official_document 制度=policy|regulation 标准=standard|criteria 审核=review|audit|approve
审批=approval|approve 审查=review|inspect|examine 检查=check|inspect|review 复核=recheck|review|verify 评审=review
评分=score|scoring|rating 打分=score|scoring|rate 评价=evaluate|review|rating 诊断报告=diagnostic_report
体检=checkup|health_check 健康=health 健身=fitness|workout 运动=sport|exercise 跑步=running 骑行=cycling 瑜伽=yoga
减肥=weight_loss|diet 减脂=fat_loss|weight_loss 饮食=diet|nutrition 营养=nutrition 食谱=recipe|meal_plan 菜谱=recipe
做饭=cooking|cook 烹饪=cooking|recipe 餐厅=restaurant 美食=food 咖啡=coffee 睡眠=sleep 情绪=emotion|mood 焦虑=anxiety
压力=stress|pressure 冥想=meditation 心理咨询=counseling|therapy 医院=hospital 医生=doctor 患者=patient
病历=medical_record 症状=symptom 中医=traditional_chinese_medicine|tcm 养生=wellness|health 孩子=child|kids|children
儿童=children|kids 亲子=parenting 育儿=parenting 家庭=family|home 婚礼=wedding 恋爱=dating|relationship
感情=relationship|emotion 礼物=gift 宠物=pet 旅行=travel|trip 旅游=travel|tourism 行程=itinerary|trip
攻略=guide|strategy 机票=flight|ticket 酒店=hotel 火车票=train_ticket|train 高铁=high-speed_rail|train 签证=visa
景点=attraction|sightseeing 导航=navigation 汽车=car|vehicle|automotive 驾驶=driving 自动驾驶=autonomous_driving
智能家居=smart_home|home_assistant 家电=appliance 购物=shopping 比价=price_comparison 二手=second-hand|used
搬家=moving 装修=renovation|decoration 星座=astrology|horoscope|zodiac 占星=astrology 塔罗=tarot
算命=fortune_telling|divination 八字=bazi|fortune_telling 风水=feng_shui 占卜=divination
命理=numerology|fortune_telling 紫微斗数=ziwei|fortune_telling 易经=i_ching|yijing 彩票=lottery 象棋=chess
围棋=go_game|weiqi 体育=sports 足球=football|soccer 篮球=basketball 比赛=match|competition|game 娱乐=entertainment
笑话=joke 段子=joke|meme 农业=agriculture|farming 能源=energy 环境保护=environment|environmental
碳排放=carbon_emission|carbon 电力=power|electricity 石油=oil|petroleum 工业=industrial|industry
工程=engineering|project 土木=civil_engineering 机械=mechanical 电气=electrical 航空=aviation|aerospace 卫星=satellite
军事=military 公益=charity|nonprofit 宗教=religion 城市=city 国家=country|national 中国=china|chinese 美国=us|american
日本=japan|japanese 世界=world 全球=global 本地=local 远程=remote 远程办公=remote_work 办公=office
自由职业=freelance|freelancer 副业=side_hustle 接单=freelance|order 个人品牌=personal_brand 名片=business_card
邀请函=invitation 请假=leave 出差=business_trip 打车=ride|taxi 外卖=food_delivery|takeout
`;
